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
  constexpr int kHalfDistance = partial_place(C::geometry.n, kVector / 2);
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
      *reinterpret_cast<Chunk*>(out +
                                partial_place(C::geometry.n, static_cast<int>(Owned::column(v))) +
                                c * kHalfDistance) = sums.chunk[c];
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

// The sums of one group of blocks in columns that are neighbours in the workspace. Loads go past
// L1: other SMs wrote them.
template <Join J, int Columns>
inline Floats<Columns> sum_block_group(
    const float* partials, i64 stride, int row_blocks, int group, i64 place) {
  const float* first = partials + static_cast<i64>(group) * kBlockGroup * stride + place;
  const int count = row_blocks - group * kBlockGroup;
  // All loads in flight at once; blocks that are not there add +0, which changes no sum, or what
  // changes no extreme.
  Floats<Columns> value[kBlockGroup], sum;
#pragma unroll
  for (int b = 0; b < kBlockGroup; ++b)
    value[b] = load_past_l1_if<Columns>(b < count, first + b * stride, identity(J));
#pragma unroll
  for (int c = 0; c < Columns; ++c) {
    sum.at[c] = identity(J);
#pragma unroll
    for (int b = 0; b < kBlockGroup; ++b) sum.at[c] = joined(J, sum.at[c], value[b].at[c]);
  }
  return sum;
}

// `Sums` column sums from `from` on. Every CTA sums a slice of the columns of all of them, so that
// the partial sums are read in about one trip to L2: a thread takes one block group of two columns,
// or of four; then one thread a column adds the groups. Scratch holds kFinishFloats, a slice of
// each sum groups << p.finish_shift. Every thread of every CTA calls this.
template <class DW, Join J, int Sums, int Threads>
inline void finish_columns(
    const ReductionParameters& p, int from, int n, bool accumulate, float* scratch) {
  constexpr int kColumns = Sums == 1 ? 2 : 4;
  const int row_blocks = p.split.blocks, shift = p.finish_shift;
  const int groups = (row_blocks + kBlockGroup - 1) / kBlockGroup;
  const int slice = 1 << shift;
#pragma unroll 1
  for (int first = blockIdx.x * slice; first < partial_stride(n); first += gridDim.x * slice) {
#pragma unroll 1
    for (int i = threadIdx.x * kColumns; i < (Sums * groups) << shift; i += Threads * kColumns) {
      const int place = first + (i & (slice - 1)), row = i >> shift;
      const int k = Sums == 1 ? 0 : row / groups;
      // Where a column is there so are its neighbours, in the stride.
      if (partial_column(n, place) < n) {
        *reinterpret_cast<Floats<kColumns>*>(scratch + i) =
            sum_block_group<J, kColumns>(p.partials + (from + k) * p.partials_stride,
                                         partial_stride(n),
                                         row_blocks,
                                         row - k * groups,
                                         place);
      }
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < Sums << shift; i += Threads) {
      const int k = i >> shift, column = partial_column(n, first + (i & (slice - 1)));
      if (column >= n) continue;
      float sum = identity(J);
#pragma unroll 1
      for (int group = 0; group < groups; ++group)
        sum = joined(J, sum, scratch[((k * groups + group) << shift) + (i & (slice - 1))]);
      store_column<DW>(p.column_sums[from + k], column, sum, accumulate);
    }
    __syncthreads();
  }
}

}  // namespace kiln::mix_order_reduction
