// Bodies of the composed kernels, for any formula. Sums follow order.hpp, by the expressions of the
// fused kernel.
//   rows: the matrix outputs, one CTA a row.   columns: partial column sums, one thread a column of
//   a block.   finish: the column outputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/columns.cuh"
#include "kernels/mix_order_reduction/parameters.hpp"
#include "templates/arithmetic.cuh"

namespace kiln::mix_order_reduction {

template <class T>
inline float composed_matrix(const MatrixView& matrix, i64 row, i64 column) {
  return T::load(
      static_cast<const typename T::Storage*>(matrix.base)[row * matrix.stride + column]);
}
template <class T>
inline float composed_vector(const void* vector, i64 column) {
  return T::load(static_cast<const typename T::Storage*>(vector)[column]);
}

// The operands of one element.
template <class F>
struct ComposedElement {
  float m[F::matrices], v[F::row_vectors], c[F::column_vectors];
  ComposedElement(const ReductionParameters& p, i64 row, i64 column) {
    F::load(p, row, column, m, v, c);
  }
};

// The sums of virtual lane `lane`: its columns in ascending order, panel after panel.
template <class F>
inline void composed_lane_sums(const ReductionParameters& p,
                               i64 row,
                               int lane,
                               float (&sum)[F::row_sums]) {
#pragma unroll
  for (int k = 0; k < F::row_sums; ++k) sum[k] = 0.0f;
  for (i64 first = static_cast<i64>(lane) * kVector; first < p.n;
       first += static_cast<i64>(kMaxLanes) * kVector) {
    for (i64 column = first; column < first + kVector && column < p.n; ++column) {
      const ComposedElement<F> e(p, row, column);
      F::reduce(e.m, e.v, e.c, p.inverse_n, sum, nullptr);
    }
  }
}

template <class F>
inline void composed_rows(const ReductionParameters& p) {
  __shared__ float lane_sum[F::row_sums][kMaxLanes];
  for (i64 row = blockIdx.x; row < p.rows; row += gridDim.x) {
    for (int lane = threadIdx.x; lane < p.lanes; lane += 256) {
      float sum[F::row_sums];
      composed_lane_sums<F>(p, row, lane, sum);
#pragma unroll
      for (int k = 0; k < F::row_sums; ++k) lane_sum[k][lane] = sum[k];
    }
    for (int step = 1; step < p.lanes; step *= 2) {
      __syncthreads();
      for (int lane = threadIdx.x * 2 * step; lane < p.lanes; lane += 256 * 2 * step) {
#pragma unroll
        for (int k = 0; k < F::row_sums; ++k)
          lane_sum[k][lane] = __fadd_rn(lane_sum[k][lane], lane_sum[k][lane + step]);
      }
    }
    __syncthreads();
    float sum[F::row_sums];
#pragma unroll
    for (int k = 0; k < F::row_sums; ++k) sum[k] = lane_sum[k][0];
    for (i64 column = threadIdx.x; column < p.n; column += 256) {
      const ComposedElement<F> e(p, row, column);
      float value[F::outputs];
      F::output(e.m, e.v, e.c, p.inverse_n, sum, value);
#pragma unroll
      for (int o = 0; o < F::outputs; ++o) {
        static_cast<typename F::Matrix::Storage*>(
            p.outputs[o].base)[row * p.outputs[o].stride + column] = F::Matrix::round(value[o]);
      }
    }
    __syncthreads();
  }
}

// Blocks of rows in y.
template <class F>
inline void composed_columns(const ReductionParameters& p) {
  const i64 column = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (column >= p.n) return;
  for (int block = blockIdx.y; block < p.split.blocks; block += gridDim.y) {
    const i64 count = block_rows(p.split, tile_rows(p.n), block);
    float sum[F::column_sums] = {};
    for (int chain = 0; chain < p.chains; ++chain) {
      float chain_sum[F::column_sums] = {};
      for (i64 i = chain; i < count; i += p.chains) {
        const ComposedElement<F> e(p, block_row(p.split, tile_rows(p.n), block, i), column);
        F::reduce(e.m, e.v, e.c, p.inverse_n, nullptr, chain_sum);
      }
#pragma unroll
      for (int k = 0; k < F::column_sums; ++k) sum[k] = __fadd_rn(sum[k], chain_sum[k]);
    }
#pragma unroll
    for (int k = 0; k < F::column_sums; ++k)
      p.partials[k * p.partials_stride + block * partial_stride(p.n) + column] = sum[k];
  }
}

// Column sum blockIdx.y.
template <class T>
inline void composed_finish(const ReductionParameters& p) {
  const i64 column = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (column >= p.n) return;
  const i64 stride = partial_stride(p.n);
  const float* partials = p.partials + blockIdx.y * p.partials_stride;
  float sum = 0.0f;
  for (int group = 0; group * kBlockGroup < p.split.blocks; ++group) {
    sum = __fadd_rn(sum, sum_block_group(partials, stride, p.split.blocks, group, column));
  }
  store_column<T>(p.column_sums[blockIdx.y], column, sum, p.accumulate != 0);
}

}  // namespace kiln::mix_order_reduction
