// y[r, c] = x[r, c] * s[r], rounded once to y's type. A CTA owns whole rows, one after another.
// There is no sum; y is written with =.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/types.cuh"
#include "tests/throwaway/scale_rows/layout.hpp"

namespace kiln::scale_rows {

template <class T>
inline void scale_row(const Parameters& p, long long row, long long n, float scale) {
  const auto* x = static_cast<const typename T::Storage*>(p.x) + row * p.x_stride;
  auto* y = static_cast<typename T::Storage*>(p.y) + row * p.y_stride;
  for (long long c = threadIdx.x; c < n; c += blockDim.x)
    y[c] = T::round(__fmul_rn(T::load(x[c]), scale));
}

template <class T>
inline void scale_rows(const Parameters& p, long long n) {
  extern __shared__ float shared_scale[];
  for (long long row = blockIdx.x; row < p.rows; row += gridDim.x) {
    if (threadIdx.x == 0) shared_scale[0] = p.s[row];
    __syncthreads();
    scale_row<T>(p, row, n, shared_scale[0]);
    __syncthreads();
  }
}

template <class C>
inline void fused(const Parameters& p) {
  static_assert(smem_bytes(C::threads) == C::smem_bytes,
                "the planner and the device code disagree on shared memory");
  scale_rows<typename C::T>(p, C::n);
}

}  // namespace kiln::scale_rows
