// The family: what a mix-order reduction's signature may say, and the constant that the service
// finds.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/family.hpp"

#include <array>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/op.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr std::array<std::string_view, 3> kTypes{"f32", "f16", "bf16"};
constexpr std::array<std::string_view, 4> kTypesOrNone{"f32", "f16", "bf16", "none"};

constexpr std::array<KeySpec, 6> kKeys{
    KeySpec{.name = "accumulate",
            .kind = KeySpec::Kind::flag,
            .default_value = "0",
            .doc = "add into dw instead of overwriting it"},
    KeySpec{.name = "dw",
            .kind = KeySpec::Kind::choice,
            .choices = kTypesOrNone,
            .doc = "type of the weight gradient; default: w's type, or f32 when accumulating"},
    KeySpec{.name = "n",
            .kind = KeySpec::Kind::integer,
            .minimum = 1,
            .maximum = 1 << 24,
            .required = true,
            .doc = "columns of a row"},
    KeySpec{.name = "residual",
            .kind = KeySpec::Kind::flag,
            .default_value = "0",
            .doc = "add a residual gradient to dx"},
    KeySpec{.name = "w",
            .kind = KeySpec::Kind::choice,
            .choices = kTypesOrNone,
            .doc = "type of the weight; none: no weight and no dw; default: x's type"},
    KeySpec{.name = "x",
            .kind = KeySpec::Kind::choice,
            .choices = kTypes,
            .default_value = "bf16",
            .doc = "type of x, dy, dx and the residual gradient"},
};

std::string& slot(Signature& signature, std::string_view key) {
  for (auto& [name, value] : signature.keys) {
    if (name == key) return value;
  }
  throw Error(ErrorCode::internal, "rms_norm_backward has no key " + std::string(key));
}

void complete(Signature& signature) {
  std::string& w = slot(signature, "w");
  std::string& dw = slot(signature, "dw");
  const bool accumulate = slot(signature, "accumulate") == "1";
  if (w.empty()) w = slot(signature, "x");
  if (w == "none") {
    if (!dw.empty() && dw != "none") {
      throw Error(ErrorCode::invalid_signature,
                  "rms_norm_backward: dw=" + dw +
                      " contradicts w=none: without a weight there is no weight gradient; "
                      "leave dw out");
    }
    if (accumulate) {
      throw Error(ErrorCode::invalid_signature,
                  "rms_norm_backward: accumulate=1 contradicts w=none: there is no dw to add into");
    }
    dw = "none";
  } else if (dw.empty()) {
    dw = accumulate ? "f32" : w;
  } else if (dw == "none") {
    throw Error(ErrorCode::invalid_signature,
                "rms_norm_backward: dw=none with w=" + w +
                    " is not supported: the weight gradient comes with the pass; "
                    "use w=none for a norm without a weight");
  }
}

constexpr std::array<OpSpec, 1> kOps{OpSpec{
    .name = kOp,
    .keys = kKeys,
    .summary = "RMSNorm backward: dx, and dw summed over the rows, in one pass",
    .complete = complete,
}};

}  // namespace

RmsNormOp RmsNormOp::from(const Signature& signature) {
  RmsNormOp op;
  op.n = signature.integer("n");
  op.x = *parse_dtype(signature.value("x"));
  op.has_weight = signature.value("w") != "none";
  if (op.has_weight) {
    op.w = *parse_dtype(signature.value("w"));
    op.dw = *parse_dtype(signature.value("dw"));
  }
  op.accumulate = signature.flag("accumulate");
  op.residual = signature.flag("residual");
  return op;
}

std::vector<Sample> samples() {
  return {
      {"rms_norm_backward:n=4096,w=bf16,x=bf16", "rms_norm_backward_n4096_bf16.cu"},
      {"rms_norm_backward:n=7168,x=bf16,w=f32,accumulate=1",
       "rms_norm_backward_n7168_accumulate.cu"},
      {"rms_norm_backward:n=128,x=bf16,residual=1", ""},
      {"rms_norm_backward:n=2049,x=f16,w=f32,dw=f32", ""},
      {"rms_norm_backward:n=16384,x=f32", ""},
      {"rms_norm_backward:n=5,x=f32,w=none", ""},
      {"rms_norm_backward:n=1000,x=f32,residual=1", ""},
      {"rms_norm_backward:n=32768,x=bf16", ""},
      {"rms_norm_backward:n=65536,x=bf16", ""},
  };
}

extern const Family family;
const Family family{
    .name = "mix_order_reduction",
    .emitter_version = 1,
    .ops = kOps,
    .plan = plan,
    .emit = emit,
    .compose = compose,
    .bind = bind,
    .problem = problem,
    .reference = reference,
    .samples = samples,
};

}  // namespace kiln::mix_order_reduction
