// What the keys of the norms' backward passes may say together, and the defaults that depend on it.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/keys.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/registry.hpp"

namespace kiln::mix_order_reduction {
namespace {

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
  if (slot(signature, "x").empty()) slot(signature, "x") = "bf16";
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
  if (w == "none" && slot(signature, "offset") == "1") {
    contradiction(signature, "offset=1 contradicts w=none: there is no weight to add 1 to");
  }
  complete_signature(description_of(signature.op), signature);
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
  complete_signature(description_of(signature.op), signature);
}

}  // namespace

void (*completion_of(std::string_view op))(Signature&) {
  if (op == "layer_norm_backward") return complete_layer_norm;
  if (op == "rms_norm_backward") return complete_rms_norm;
  return nullptr;
}

}  // namespace kiln::mix_order_reduction
