// Partial column sums into the result: blocks in order within groups of kBlockGroup, groups in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/layout.hpp"
#include "templates/memory.cuh"

namespace kiln::mix_order_reduction {

// dw = sum, or with accumulate dw += sum, where the sum is first rounded to dw's type: the bits of dw.add_(sum).
template <class DW>
inline void store_column(void* dw, i64 column, float sum, bool accumulate) {
  auto* out = static_cast<typename DW::Storage*>(dw) + column;
  auto value = DW::round(sum);
  if (accumulate) value = DW::round(__fadd_rn(DW::load(*out), DW::load(value)));
  *out = value;
}

// The sum of one group of blocks in one column. Loads go past L1: other SMs wrote them.
inline float sum_block_group(const float* partials, i64 stride, int row_blocks, int group, i64 column) {
  const float* first = partials + static_cast<i64>(group) * kBlockGroup * stride + column;
  const int count = row_blocks - group * kBlockGroup < kBlockGroup ? row_blocks - group * kBlockGroup : kBlockGroup;
  float value[kBlockGroup];
#pragma unroll
  for (int b = 0; b < kBlockGroup; ++b) {
    if (b < count) value[b] = load_past_l1(first + b * stride);
  }
  float sum = value[0];
#pragma unroll
  for (int b = 1; b < kBlockGroup; ++b) {
    if (b < count) sum = __fadd_rn(sum, value[b]);
  }
  return sum;
}

// All CTAs share the columns; scratch holds kFinishBytes. Every thread of every CTA calls this.
template <class DW, int Threads>
inline void finish_columns(const float* partials, i64 n, int row_blocks, void* dw, bool accumulate, float* scratch) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int groups = (row_blocks + kBlockGroup - 1) / kBlockGroup;
  for (i64 tile = blockIdx.x; tile * kFinishColumns < n; tile += gridDim.x) {
    const i64 column = tile * kFinishColumns + lane;
    if (column < n) {
      for (int group = warp; group < groups; group += Threads / 32) {
        scratch[group * kFinishColumns + lane] =
            sum_block_group(partials, partial_stride(n), row_blocks, group, column);
      }
    }
    __syncthreads();
    if (warp == 0 && column < n) {
      float sum = scratch[lane];
      for (int group = 1; group < groups; ++group) sum = __fadd_rn(sum, scratch[group * kFinishColumns + lane]);
      store_column<DW>(dw, column, sum, accumulate);
    }
    __syncthreads();
  }
}

}  // namespace kiln::mix_order_reduction
