// The portable route's kernels: any n and k at run time, the bits of the Hopper kernels.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_gemm/composed.cuh"

using kiln::grouped_gemm::Op;
using kiln::grouped_gemm::portable;
using kiln::grouped_gemm::PortableParameters;

extern "C" __global__ void __launch_bounds__(128, 2)
    grouped_gemm_forward_bf16(const __grid_constant__ PortableParameters p) {
  portable<Op::forward, kiln::bf16>(p);
}
extern "C" __global__ void __launch_bounds__(128, 2)
    grouped_gemm_forward_f32(const __grid_constant__ PortableParameters p) {
  portable<Op::forward, kiln::f32>(p);
}
extern "C" __global__ void __launch_bounds__(128, 2)
    grouped_gemm_dgrad_bf16(const __grid_constant__ PortableParameters p) {
  portable<Op::dgrad, kiln::bf16>(p);
}
extern "C" __global__ void __launch_bounds__(128, 2)
    grouped_gemm_dgrad_f32(const __grid_constant__ PortableParameters p) {
  portable<Op::dgrad, kiln::f32>(p);
}
extern "C" __global__ void __launch_bounds__(128, 2)
    grouped_gemm_wgrad_bf16(const __grid_constant__ PortableParameters p) {
  portable<Op::wgrad, kiln::bf16>(p);
}
extern "C" __global__ void __launch_bounds__(128, 2)
    grouped_gemm_wgrad_f32(const __grid_constant__ PortableParameters p) {
  portable<Op::wgrad, kiln::f32>(p);
}
