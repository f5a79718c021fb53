// The family: how its ops read a signature, and the constant that the service finds.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/family.hpp"

#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/registry.hpp"

namespace kiln::mix_order_reduction {

Op Op::from(const Signature& signature) {
  return {.name = signature.op, .n = signature.integer("n"), .variant = variant_of(signature)};
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
      {"rms_norm_backward:n=4096,gated=1,offset=1", "rms_norm_backward_n4096_gated_offset.cu"},
      {"rms_norm_backward:n=300,x=f32,gated=1,w=none,residual=1", ""},
      {"rms_norm_forward:n=4096,residual=1", "rms_norm_forward_n4096_residual.cu"},
      {"rms_norm_forward:n=99,x=f32,offset=1", ""},
      {"rms_norm_forward:n=65536,w=none", ""},
      {"layer_norm_forward:n=4096", "layer_norm_forward_n4096.cu"},
      {"layer_norm_forward:n=2880,x=f16,residual=1,w=f32,b=none", ""},
      {"layer_norm_forward:n=65536", ""},
      {"softmax_backward:n=1024,dbias=f32", "softmax_backward_n1024_dbias.cu"},
      {"softmax_backward:n=77,x=f32", ""},
      {"softmax_backward:n=40000,dbias=f32,accumulate=1", ""},
      {"adaln_backward:n=1152", ""},
      {"adaln_backward:n=3072,x=f32,scale=f32,accumulate=1,residual=1", ""},
      {"adaln_backward:n=65536", ""},
      {"bias_backward:n=4096,db=f32,accumulate=1", ""},
      {"bias_backward:n=7,x=f32", ""},
      {"bias_backward:n=65536", ""},
      {"rms_norm_pair_backward:n=8192,x=f32,residual=1", ""},
      {"rms_norm_pair_backward:n=2048", ""},
      {"rms_norm_pair_backward:n=65536", ""},
      {"absmax:n=4096", "absmax_n4096.cu"},
      {"absmax:n=33,x=f16", ""},
      {"absmax:n=65536,x=f32", ""},
  };
}

extern const Family family;
const Family family{
    .name = "mix_order_reduction",
    .emitter_version = 2,
    .ops = op_specs,
    .find_op = find_op_spec,
    .plan = plan,
    .emit = emit,
    .compose = compose,
    .bind = bind,
    .problem = problem,
    .reference = reference,
    .samples = samples,
    .candidates = candidate_names,
};

}  // namespace kiln::mix_order_reduction
