// The composed route: the same arithmetic with n at run time.
// SPDX-License-Identifier: Apache-2.0
#include "tests/throwaway/scale_rows/scale_rows.cuh"

using kiln::scale_rows::Parameters;

extern "C" __global__ void __launch_bounds__(256)
    scale_rows_composed_f32(const __grid_constant__ Parameters p) {
  kiln::scale_rows::scale_rows<kiln::f32>(p, p.n);
}
extern "C" __global__ void __launch_bounds__(256)
    scale_rows_composed_f16(const __grid_constant__ Parameters p) {
  kiln::scale_rows::scale_rows<kiln::f16>(p, p.n);
}
extern "C" __global__ void __launch_bounds__(256)
    scale_rows_composed_bf16(const __grid_constant__ Parameters p) {
  kiln::scale_rows::scale_rows<kiln::bf16>(p, p.n);
}
