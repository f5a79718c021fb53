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
  // Every step below steps() has its row r.
  static constexpr bool surely_has(int r) { return kChains == 1 && r == 0; }

 private:
  int index(int step, int r) const { return (step * kRows + r) * kChains + chain; }
};

// What column vectors hold of the rows to come: lane l of a part holds the values of its l-th next
// step. One load in as many steps as a part has threads, and a shuffle a step, are fewer
// instructions than a load a step, and keep them apart from the rows' copies.
template <class C>
struct LoadedValues {
  using Formula = typename C::Formula;
  static constexpr int kRows = C::geometry.rows_per_step;
  static constexpr int kValues = Formula::loaded_values;
  static constexpr int kLanes = Columns<C>::kPartThreads;
  float held[kRows][kValues > 0 ? kValues : 1];

  // Called once a step, before the next one's `give`; step -1 is the first. Loads when no lane has
  // the next step's.
  void load_after(int step, const ReductionParameters& p, const Rows<C>& rows) {
    if constexpr (kValues > 0) {
      if ((step + 1) % kLanes != 0 || step < -1) return;
      const int mine = step + 1 + Columns<C>::part_lane();
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (!rows.has(mine, r)) continue;
        const i64 row = rows.row(mine, r);
#pragma unroll
        for (int k = 0; k < kValues; ++k)
          held[r][k] = load_constant(Formula::loaded_value(p, k) + row);
      }
    }
  }

  template <int Values>
  void give(int step, float (&values)[kRows][Values]) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int k = 0; k < kValues; ++k)
        values[r][k] = __shfl_sync(0xffffffffu, held[r][k], step % kLanes, kLanes);
    }
  }
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

  static constexpr u32 kInputBytes = static_cast<u32>(stage_bytes(kGeometry));

  u32 slot(int stage, int r, int input) const {
    return buffers + stage * kInputBytes + (r * kGeometry.inputs + input) * kRowBytes +
           threadIdx.x / Owned::kPartThreads * (Owned::kPartThreads * 16 * Octet<T>::kChunks);
  }
  // The next row of every input: of a CTA, so that uniform registers hold it, or this thread's
  // share of its group's.
  using Sources = const char * [kGeometry.inputs];
  static constexpr bool kUniform = cta_row(kGeometry.n);

  static void first_sources(const ReductionParameters& p, const Rows<C>& rows, Sources& from) {
    const i64 row = rows.row(0, 0);
#pragma unroll
    for (int i = 0; i < kGeometry.inputs; ++i) {
      from[i] = static_cast<const char*>(p.inputs[i].base) +
                (row * p.inputs[i].stride + (kUniform ? 0 : first_copied<C, T>())) * T::kBytes;
    }
  }

  // Starts loading the inputs of row r of a step into a stage, and moves on to the next row. Called
  // in one place: code size is compile time.
  void start(const ReductionParameters& p,
             int step,
             int stage,
             int r,
             const Rows<C>& rows,
             Sources& from) const {
    const bool has = rows.has(step, r);
#pragma unroll
    for (int i = 0; i < kGeometry.inputs; ++i) {
      if (has) {
        const char* mine = from[i] + (kUniform ? first_copied<C, T>() * T::kBytes : 0);
        if (Owned::kVectorOnly || p.vector_access) {
          start_row<C, T>(mine, slot(stage, r, i));
        } else {
          copy_row<C, T>(mine, slot(stage, r, i));
        }
      }
      from[i] += p.inputs[i].pitch;
    }
  }
};

}  // namespace kiln::mix_order_reduction
