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

  static constexpr u32 kInputBytes = static_cast<u32>(input_bytes(kGeometry));
  static constexpr int kValues = kGeometry.loaded_values;

  u32 slot(int stage, int r, int input) const {
    return buffers + stage * kInputBytes + (r * kGeometry.inputs + input) * kRowBytes +
           threadIdx.x / Owned::kPartThreads * (Owned::kPartThreads * 16 * Octet<T>::kChunks);
  }
  // Loaded value k of row r.
  u32 value_slot(int stage, int r, int k) const {
    return buffers + kGeometry.stages * kInputBytes +
           stage * static_cast<u32>(value_bytes(kGeometry)) +
           threadIdx.x / Owned::kPartThreads * part_value_bytes(kGeometry) + (r * kValues + k) * 4;
  }

  // A value a lane: of all rows at once.
  void start_values(const ReductionParameters& p, int step, int stage, const Rows<C>& rows) const {
    if constexpr (kValues > 0) {
#pragma unroll
      for (int first = 0; first < kRows * kValues; first += Owned::kPartThreads) {
        const int i = first + Owned::part_lane(), r = i / kValues;
        if (i < kRows * kValues && rows.has(step, r)) {
          copy_async_4(value_slot(stage, 0, i),
                       C::Formula::loaded_value(p, i % kValues) + rows.row(step, r));
        }
      }
    }
  }

  template <int Count, int Values>
  void read_values(int stage, float (&values)[Count][Values]) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int k = 0; k < kValues; ++k) values[r][k] = load_shared_float(value_slot(stage, r, k));
    }
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

  // Starts loading the inputs of one step into a stage, and moves on to the next step. Called in
  // one place: code size is compile time.
  void start(
      const ReductionParameters& p, int step, int stage, const Rows<C>& rows, Sources& from) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
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
    start_values(p, step, stage, rows);
    copy_async_commit();
  }
};

}  // namespace kiln::mix_order_reduction
