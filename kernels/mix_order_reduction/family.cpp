// The family: how its ops read a signature, and the constant that the service finds.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/family.hpp"

#include <array>
#include <set>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/op.hpp"

namespace kiln::mix_order_reduction {

Op Op::from(const Signature& signature) {
  Op op;
  op.name = signature.op;
  op.n = signature.integer("n");
  op.program = specialise(builtin_description(signature.op), signature);
  op.shape = shape_of(op.program);
  return op;
}

std::string Op::types_text(const Signature& signature) const {
  // The matrices' type, the other types in the description's order, the flags that are set.
  std::string types = fmt::format("_{}", to_string(shape.matrix)), flags;
  std::set<std::string> seen;
  const Description& d = builtin_description(name);
  for (const auto* tensors : {&d.inputs, &d.outputs}) {
    for (const TensorDescription& t : *tensors) {
      const bool key = !parse_dtype(t.type) && t.extent != Extent::matrix;
      if (key && seen.insert(t.type).second) types += fmt::format("_{}", signature.value(t.type));
    }
  }
  for (const auto* tensors : {&d.inputs, &d.outputs}) {
    for (const TensorDescription& t : *tensors) {
      const bool flag = !t.given.empty() && signature.value(t.given) == "1";
      if (flag && seen.insert(t.given).second) flags += fmt::format("_{}", t.given);
    }
  }
  return types + flags;
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
      {"layer_norm_backward:n=4096", "layer_norm_backward_n4096_bf16.cu"},
      {"layer_norm_backward:n=7168,w=f32,accumulate=1", ""},
      {"layer_norm_backward:n=5,x=f32,db=none", ""},
      {"layer_norm_backward:n=128,w=none,residual=1", ""},
      {"layer_norm_backward:n=2049,x=f16,w=f32,dw=none", ""},
      {"layer_norm_backward:n=16384", ""},
      {"layer_norm_backward:n=32768,x=f32", ""},
      {"layer_norm_backward:n=65536", ""},
  };
}

extern const Family family;
const Family family{
    .name = "mix_order_reduction",
    .emitter_version = 1,
    .ops = kOpSpecs,
    .plan = plan,
    .emit = emit,
    .compose = compose,
    .bind = bind,
    .problem = problem,
    .reference = reference,
    .samples = samples,
};

}  // namespace kiln::mix_order_reduction
