// The pipeline of a step's inputs: which rows a group of threads takes, and the shared-memory
// buffers they pass through.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/parameters.hpp"
#include "kernels/mix_order_reduction/rows.cuh"

namespace kiln::mix_order_reduction {

// The rows of one block that this thread's group owns: one chain of it. There are fewer than 2^31
// rows, and 32-bit indices are half the instructions.
template <class C>
struct Rows {
  static constexpr int kRows = C::geometry.rows_per_step;
  static constexpr int kChains = chains(C::geometry.n);
  static constexpr int kTile = tile_rows(C::geometry.n);
  const RowSplit& split;
  int block, chain;
  int count;  // of the block

  Rows(const RowSplit& row_split, int row_block)
      : split(row_split),
        block(row_block),
        chain(cta_row(C::geometry.n) ? 0
                                     : static_cast<int>(threadIdx.x) / Columns<C>::kGroupThreads),
        count(static_cast<int>(block_rows(row_split, kTile, row_block))) {}

  int steps() const { return static_cast<int>((count + kRows * kChains - 1) / (kRows * kChains)); }
  // Row r of a step, and whether the block still has it.
  bool has(int step, int r) const { return index(step, r) < count; }
  i64 row(int step, int r) const { return block_row(split, kTile, block, index(step, r)); }

 private:
  int index(int step, int r) const { return (step * kRows + r) * kChains + chain; }
};

// Buffers of one step's inputs, all matrices of type T. Each part of a CTA (up to 32 neighbouring
// threads) fills and reads its own slots, so no barrier wider than a warp guards them.
template <class C, class T>
struct Stages {
  using Owned = Columns<C>;
  static constexpr Geometry kGeometry = C::geometry;
  static constexpr int kRows = kGeometry.rows_per_step;
  // Of one input, a row a group.
  static constexpr u32 kRowBytes = Owned::kOctets * kVector * T::kBytes * kGeometry.threads;
  static_assert(cta_row(kGeometry.n) ||
                    Owned::kGroupThreads * chains(kGeometry.n) == kGeometry.threads,
                "groups of a warp or less: as many as the column order has chains");
  static_assert(static_cast<i64>(Owned::kLanesPerThread) * Owned::kGroupThreads * kVector *
                        kGeometry.cluster_ctas * panels(kGeometry.n) >=
                    kGeometry.n,
                "the threads must cover the row");
  static_assert(panels(kGeometry.n) == 1 ||
                    Owned::kLanesPerThread * Owned::kGroupThreads * kGeometry.cluster_ctas ==
                        kMaxLanes,
                "with several panels the threads must cover a panel exactly");

  u32 buffers;  // shared-memory address

  u32 slot(int stage, int r, int input) const {
    return buffers + (stage * kRows + r) * (kGeometry.inputs * kRowBytes) + input * kRowBytes +
           threadIdx.x / Owned::kPartThreads * (Owned::kPartThreads * 16 * Octet<T>::kChunks);
  }

  // Starts loading the inputs of one step into a stage; input(i) is matrix i. Called in one place:
  // code size is compile time.
  template <class Input>
  void start(int step, int stage, const Rows<C>& rows, bool vector_access, Input input) const {
    const auto load = [&](int r, int i, auto load_row) {
      if (!rows.has(step, r)) return;
      const MatrixView matrix = input(i);
      load_row(
          static_cast<const char*>(matrix.base) + rows.row(step, r) * matrix.stride * T::kBytes,
          slot(stage, r, i));
    };
    if (Owned::kVectorOnly || vector_access) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int i = 0; i < kGeometry.inputs; ++i) {
          load(r, i, [](const void* row, u32 to) { start_row<C, T>(row, to); });
        }
      }
    } else {
#pragma unroll 1
      for (int i = 0; i < kRows * kGeometry.inputs; ++i) {
        load(i / kGeometry.inputs, i % kGeometry.inputs, [](const void* row, u32 to) {
          copy_row<C, T>(row, to);
        });
      }
    }
    copy_async_commit();
  }
};

// Matrix i. By index or by selects: the same loads, but wide rows with one sum spilled with the
// one, and with two sums with the other (NVRTC 13.0).
template <int Inputs, bool ByIndex>
inline MatrixView input_view(const ReductionParameters& p, int i) {
  if constexpr (ByIndex) return p.inputs[i];
  MatrixView view = p.inputs[0];
#pragma unroll
  for (int k = 1; k < Inputs; ++k) {
    if (i == k) view = p.inputs[k];
  }
  return view;
}

// What column vectors hold for the rows of a step.
template <class C, int Count, int Values>
inline void load_row_values(const ReductionParameters& p,
                            int step,
                            const Rows<C>& rows,
                            float (&loaded)[Count][Values]) {
  if constexpr (C::Formula::loaded_values > 0) {
#pragma unroll
    for (int r = 0; r < Count; ++r) {
      if (rows.has(step, r)) {
        C::Formula::load_row(p, rows.row(step, r), loaded[r]);
      } else {
#pragma unroll
        for (int k = 0; k < Values; ++k) loaded[r][k] = 0.0f;
      }
    }
  }
}

}  // namespace kiln::mix_order_reduction
