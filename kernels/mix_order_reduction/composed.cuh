// Bodies of the composed kernels of rms_norm_backward. Sums follow order.hpp, by the expressions of
// the fused kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/columns.cuh"
#include "kernels/mix_order_reduction/parameters.hpp"
#include "kernels/mix_order_reduction/rms_norm_backward.cuh"

namespace kiln::mix_order_reduction {

template <class X>
inline const typename X::Storage* composed_row(const void* base, i64 stride, i64 row) {
  return static_cast<const typename X::Storage*>(base) + row * stride;
}

template <class X, class W>
inline RmsNormElement<W> composed_element(const ComposedParameters& p,
                                          i64 row,
                                          i64 column,
                                          float rstd) {
  float w = 1.0f;
  if constexpr (!same_type<W, none>)
    w = W::load(static_cast<const typename W::Storage*>(p.w)[column]);
  return {X::load(composed_row<X>(p.x, p.x_stride, row)[column]),
          X::load(composed_row<X>(p.dy, p.dy_stride, row)[column]),
          w,
          rstd};
}

// The sum of virtual lane `lane`: its columns in ascending order, panel after panel.
template <class X, class W>
inline float composed_lane_sum(const ComposedParameters& p, i64 row, int lane, float rstd) {
  float sum = 0.0f;
  for (i64 first = static_cast<i64>(lane) * kVector; first < p.n;
       first += static_cast<i64>(kMaxLanes) * kVector) {
    for (i64 column = first; column < first + kVector && column < p.n; ++column) {
      sum = composed_element<X, W>(p, row, column, rstd).add_to_row(sum);
    }
  }
  return sum;
}

// dx: one CTA a row, rows in strides of the grid.
template <class X, class W>
inline void composed_rows(const ComposedParameters& p) {
  __shared__ float lane_sum[kMaxLanes];
  for (i64 row = blockIdx.x; row < p.rows; row += gridDim.x) {
    const float rstd = p.rstd[row];
    for (int lane = threadIdx.x; lane < p.lanes; lane += 256) {
      lane_sum[lane] = composed_lane_sum<X, W>(p, row, lane, rstd);
    }
    for (int step = 1; step < p.lanes; step *= 2) {
      __syncthreads();
      for (int lane = threadIdx.x * 2 * step; lane < p.lanes; lane += 256 * 2 * step) {
        lane_sum[lane] = __fadd_rn(lane_sum[lane], lane_sum[lane + step]);
      }
    }
    __syncthreads();
    const float mean = __fmul_rn(lane_sum[0], p.inverse_n);
    auto* out = static_cast<typename X::Storage*>(p.dx) + row * p.dx_stride;
    for (i64 column = threadIdx.x; column < p.n; column += 256) {
      float value = composed_element<X, W>(p, row, column, rstd).dx(mean, rstd);
      if (p.residual != nullptr) {
        value =
            __fadd_rn(value, X::load(composed_row<X>(p.residual, p.residual_stride, row)[column]));
      }
      out[column] = X::round(value);
    }
    __syncthreads();
  }
}

// Partial column sums: one thread a column, blocks of rows in y.
template <class X>
inline void composed_columns(const ComposedParameters& p) {
  const i64 column = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (column >= p.n) return;
  for (int block = blockIdx.y; block < p.split.blocks; block += gridDim.y) {
    const i64 count = block_rows(p.split, tile_rows(p.n), block);
    float sum = 0.0f;
    for (int chain = 0; chain < p.chains; ++chain) {
      float chain_sum = 0.0f;
      for (i64 i = chain; i < count; i += p.chains) {
        const i64 row = block_row(p.split, tile_rows(p.n), block, i);
        chain_sum = composed_element<X, none>(p, row, column, p.rstd[row]).add_to_column(chain_sum);
      }
      sum = __fadd_rn(sum, chain_sum);
    }
    p.partials[block * partial_stride(p.n) + column] = sum;
  }
}

template <class DW>
inline void composed_finish(const ComposedParameters& p) {
  const i64 column = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (column >= p.n) return;
  const i64 stride = partial_stride(p.n);
  float sum = 0.0f;
  for (int group = 0; group * kBlockGroup < p.split.blocks; ++group) {
    sum = __fadd_rn(sum, sum_block_group(p.partials, stride, p.split.blocks, group, column));
  }
  store_column<DW>(p.dw, column, sum, p.accumulate != 0);
}

}  // namespace kiln::mix_order_reduction
