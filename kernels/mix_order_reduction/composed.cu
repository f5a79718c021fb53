// The composed route: any n at run time, three small kernels, the bits of the fused one.
//   rows: dx, one CTA a row.   columns: partial column sums, one thread a column of a block.
//   finish: dw.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/composed.cuh"

using kiln::mix_order_reduction::ComposedParameters;

extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_f32(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::f32, kiln::f32>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_f16(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::f32, kiln::f16>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_bf16(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::f32, kiln::bf16>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_none(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::f32, kiln::none>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_f32(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::f16, kiln::f32>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_f16(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::f16, kiln::f16>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_bf16(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::f16, kiln::bf16>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_none(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::f16, kiln::none>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_f32(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::bf16, kiln::f32>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_f16(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::bf16, kiln::f16>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_bf16(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::bf16, kiln::bf16>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_none(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_rows<kiln::bf16, kiln::none>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_columns_f32(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_columns<kiln::f32>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_columns_f16(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_columns<kiln::f16>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_columns_bf16(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_columns<kiln::bf16>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_finish_f32(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_finish<kiln::f32>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_finish_f16(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_finish<kiln::f16>(p);
}
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_finish_bf16(const __grid_constant__ ComposedParameters p) {
  kiln::mix_order_reduction::composed_finish<kiln::bf16>(p);
}
