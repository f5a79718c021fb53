// What signatures of the family's ops may say, and the defaults that depend on other keys.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/op.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr std::array<std::string_view, 3> kTypes{"f32", "f16", "bf16"};
constexpr std::array<std::string_view, 4> kTypesOrNone{"f32", "f16", "bf16", "none"};

constexpr KeySpec kN{.name = "n",
                     .kind = KeySpec::Kind::integer,
                     .minimum = 1,
                     .maximum = 1 << 24,
                     .required = true,
                     .doc = "columns of a row"};
constexpr KeySpec kX{.name = "x",
                     .kind = KeySpec::Kind::choice,
                     .choices = kTypes,
                     .default_value = "bf16",
                     .doc = "type of x, dy, dx and the residual gradient"};
constexpr KeySpec kResidual{.name = "residual",
                            .kind = KeySpec::Kind::flag,
                            .default_value = "0",
                            .doc = "add a residual gradient to dx"};

constexpr KeySpec flag(std::string_view name, std::string_view doc) {
  return {.name = name, .kind = KeySpec::Kind::flag, .default_value = "0", .doc = doc};
}
constexpr KeySpec type_or_none(std::string_view name, std::string_view doc) {
  return {.name = name, .kind = KeySpec::Kind::choice, .choices = kTypesOrNone, .doc = doc};
}

constexpr std::array<KeySpec, 6> kRmsNormKeys{
    flag("accumulate", "add into dw instead of overwriting it"),
    type_or_none("dw", "type of the weight gradient; default: w's type, or f32 when accumulating"),
    kN,
    kResidual,
    type_or_none("w", "type of the weight; none: no weight and no dw; default: x's type"),
    kX,
};

constexpr std::array<KeySpec, 7> kLayerNormKeys{
    flag("accumulate", "add into dw and db instead of overwriting them"),
    type_or_none("db", "type of the bias gradient; none: no db; default: dw's type, or as dw's"),
    type_or_none("dw",
                 "type of the weight gradient; none: no dw; default: w's type, or f32 when "
                 "accumulating"),
    kN,
    kResidual,
    type_or_none("w", "type of the weight; none: no weight and no dw; default: x's type"),
    kX,
};

std::string& slot(Signature& signature, std::string_view key) {
  for (auto& [name, value] : signature.keys) {
    if (name == key) return value;
  }
  throw Error(ErrorCode::internal, fmt::format("{} has no key {}", signature.op, key));
}

[[noreturn]] void contradiction(const Signature& signature, std::string_view problem) {
  throw Error(ErrorCode::invalid_signature, fmt::format("{}: {}", signature.op, problem));
}

// dw without a weight is a contradiction; its type is the weight's, or f32 to accumulate into.
void complete_dw(Signature& signature) {
  std::string& w = slot(signature, "w");
  std::string& dw = slot(signature, "dw");
  if (w.empty()) w = slot(signature, "x");
  if (w == "none") {
    if (!dw.empty() && dw != "none") {
      contradiction(signature,
                    fmt::format("dw={} contradicts w=none: without a weight there is no weight "
                                "gradient; leave dw out",
                                dw));
    }
    dw = "none";
  } else if (dw.empty()) {
    dw = slot(signature, "accumulate") == "1" ? "f32" : w;
  }
}

void complete_rms_norm(Signature& signature) {
  complete_dw(signature);
  const std::string& w = slot(signature, "w");
  if (w == "none" && slot(signature, "accumulate") == "1") {
    contradiction(signature, "accumulate=1 contradicts w=none: there is no dw to add into");
  }
  if (w != "none" && slot(signature, "dw") == "none") {
    contradiction(signature,
                  fmt::format("dw=none with w={} is not supported: the weight gradient comes with "
                              "the pass; use w=none for a norm without a weight",
                              w));
  }
}

void complete_layer_norm(Signature& signature) {
  const bool accumulate = slot(signature, "accumulate") == "1";
  complete_dw(signature);
  const std::string& w = slot(signature, "w");
  const std::string& dw = slot(signature, "dw");
  std::string& db = slot(signature, "db");
  if (db.empty()) db = dw != "none" || w == "none" ? dw : accumulate ? "f32" : w;
  if (accumulate && dw == "none" && db == "none") {
    contradiction(signature,
                  "accumulate=1 contradicts dw=none,db=none: there is nothing to add into");
  }
  if (dw != "none" && db != "none" && dw != db) {
    contradiction(
        signature,
        fmt::format("dw={} and db={} are not supported together: give both one type", dw, db));
  }
}

}  // namespace

constinit const std::array<OpSpec, 2> kOpSpecs{
    OpSpec{.name = "layer_norm_backward",
           .keys = kLayerNormKeys,
           .summary = "LayerNorm backward: dx, and dw and db summed over the rows, in one pass",
           .complete = complete_layer_norm},
    OpSpec{.name = "rms_norm_backward",
           .keys = kRmsNormKeys,
           .summary = "RMSNorm backward: dx, and dw summed over the rows, in one pass",
           .complete = complete_rms_norm},
};

}  // namespace kiln::mix_order_reduction
