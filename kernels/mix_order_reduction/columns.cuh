// Column sums: from registers to partial sums of a row block, from those to the result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/joins.cuh"
#include "kernels/mix_order_reduction/rows.cuh"

namespace kiln::mix_order_reduction {

// This block's column sums into the workspace: one chain from registers, several by way of scratch
// in shared memory. Every thread of the CTA calls this.
template <class C, Join J, int Octets>
inline void write_partials(const float (&column)[Octets][kVector],
                           float* partials,
                           int block,
                           float* scratch) {
  using Owned = Columns<C>;
  constexpr int kChains = chains(C::geometry.n);
  constexpr i64 kStride = partial_stride(C::geometry.n);
  float* out = partials + block * kStride;
  if constexpr (kChains > 1) {
    __syncthreads();
    out = scratch + threadIdx.x / Owned::kGroupThreads * kStride;
  }
#pragma unroll
  for (int v = 0; v < Octets; ++v) {
    if (!Owned::owns(v)) continue;
    Octet<f32> sums;
#pragma unroll
    for (int i = 0; i < kVector; i += 2) sums.set_pair(i, column[v][i], column[v][i + 1]);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      *reinterpret_cast<Chunk*>(out + Owned::column(v) + c * 4) = sums.chunk[c];
    }
  }
  if constexpr (kChains > 1) {
    __syncthreads();
    for (int c = threadIdx.x; c < kStride; c += C::geometry.threads) {
      float sum = identity(J);
#pragma unroll 4
      for (int j = 0; j < kChains; ++j) sum = joined(J, sum, scratch[j * kStride + c]);
      partials[block * kStride + c] = sum;
    }
    __syncthreads();
  }
}

// dw = sum, or with accumulate dw += sum, where the sum is first rounded to dw's type: the bits of
// dw.add_(sum).
template <class DW>
inline void store_column(void* dw, i64 column, float sum, bool accumulate) {
  auto* out = static_cast<typename DW::Storage*>(dw) + column;
  auto value = DW::round(sum);
  if (accumulate) value = DW::round(__fadd_rn(DW::load(*out), DW::load(value)));
  *out = value;
}

// The sum of one group of blocks in one column. Loads go past L1: other SMs wrote them.
template <Join J>
inline float sum_block_group(
    const float* partials, i64 stride, int row_blocks, int group, i64 column) {
  const float* first = partials + static_cast<i64>(group) * kBlockGroup * stride + column;
  const int count = row_blocks - group * kBlockGroup;
  float sum = identity(J);
  float value[kBlockGroup];  // all loads in flight at once; blocks that are not there add +0, which
                             // changes no sum, or what changes no extreme
#pragma unroll
  for (int b = 0; b < kBlockGroup; ++b) {
    value[b] = load_past_l1_if(b < count, first + b * stride, identity(J));
  }
#pragma unroll
  for (int b = 0; b < kBlockGroup; ++b) sum = joined(J, sum, value[b]);
  return sum;
}

// The same of two neighbouring columns.
template <Join J>
inline Pair sum_block_group_pair(
    const float* partials, i64 stride, int row_blocks, int group, i64 column) {
  const float* first = partials + static_cast<i64>(group) * kBlockGroup * stride + column;
  const int count = row_blocks - group * kBlockGroup;
  Pair value[kBlockGroup], sum{identity(J), identity(J)};
#pragma unroll
  for (int b = 0; b < kBlockGroup; ++b) {
    value[b] =
        load_past_l1_if(b < count, reinterpret_cast<const Pair*>(first + b * stride), identity(J));
  }
#pragma unroll
  for (int b = 0; b < kBlockGroup; ++b)
    sum = {joined(J, sum.low, value[b].low), joined(J, sum.high, value[b].high)};
  return sum;
}

// `Sums` column sums from `from` on. Every CTA sums a slice of the columns of all of them, so that
// the partial sums are read in about one trip to L2: a thread takes one block group of two columns;
// then one thread a column adds the groups. Scratch holds kFinishFloats, a slice of each sum
// groups << p.finish_shift. Every thread of every CTA calls this.
template <class DW, Join J, int Sums, int Threads>
inline void finish_columns(
    const ReductionParameters& p, int from, int n, bool accumulate, float* scratch) {
  const int row_blocks = p.split.blocks, shift = p.finish_shift;
  const int groups = (row_blocks + kBlockGroup - 1) / kBlockGroup;
  const int slice = 1 << shift;
#pragma unroll 1
  for (int first = blockIdx.x * slice; first < n; first += gridDim.x * slice) {
    const int columns = n - first < slice ? n - first : slice;
#pragma unroll 1
    for (int i = threadIdx.x * 2; i < (Sums * groups) << shift; i += Threads * 2) {
      const int column = i & (slice - 1), row = i >> shift;
      const int k = Sums == 1 ? 0 : row / groups;
      if (column < columns) {  // of a last odd one the neighbour is there too, in the stride
        const Pair sum = sum_block_group_pair<J>(p.partials + (from + k) * p.partials_stride,
                                                 partial_stride(n),
                                                 row_blocks,
                                                 row - k * groups,
                                                 first + column);
        scratch[i] = sum.low;
        scratch[i + 1] = sum.high;
      }
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < Sums << shift; i += Threads) {
      const int column = i & (slice - 1), k = i >> shift;
      if (column >= columns) continue;
      float sum = identity(J);
#pragma unroll 1
      for (int group = 0; group < groups; ++group)
        sum = joined(J, sum, scratch[((k * groups + group) << shift) + column]);
      store_column<DW>(p.column_sums[from + k], first + column, sum, accumulate);
    }
    __syncthreads();
  }
}

}  // namespace kiln::mix_order_reduction
