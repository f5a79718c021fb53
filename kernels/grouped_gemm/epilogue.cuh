// From accumulators to memory: a warp's 16 rows, 128 bytes at a time, through slabs of shared
// memory of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/grouped_gemm/element_store.cuh"
#include "kernels/grouped_gemm/layout.hpp"
#include "kernels/grouped_gemm/parameters.hpp"
#include "templates/matrix.cuh"
#include "templates/mbarrier.cuh"
#include "templates/tma.cuh"

namespace kiln::grouped_gemm {

template <class C>
struct Epilogue {
  using Out = typename C::Out;
  static constexpr Geometry g = C::geometry;
  static constexpr int kColumns = slab_columns(g);  // of a slab
  static constexpr int kTurns = slabs_of_tile(g);
  static constexpr int kSlabs = g.slabs;
  static constexpr bool kStaged = g.add == Add::staged;

  const HopperParameters& p;
  u32 slabs;     // shared memory of this warp
  u32 barriers;  // one a slab
  u32 lane;

  // The warp's first row of the output's memory, how many rows are valid, and the columns.
  i64 out_row = 0;
  int rows = 0;
  int column = 0;
  int columns = 0;
  bool engine = false;  // by the copy engine
  u32 slab = 0;         // the next turn's
  u32 parity = 0;       // of its barrier

  void open(i64 first_row, int valid_rows, int first_column, int valid_columns) {
    out_row = first_row;
    rows = valid_rows;
    column = first_column;
    columns = valid_columns;
    engine = rows >= kSlabRows && p.aligned != 0;
  }

  u32 address(u32 index) const { return slabs + index * kSlabBytes; }
  bool turn_valid(int turn) const { return turn * kColumns < columns; }
  void advance() {
    if (++slab == kSlabs) {
      slab = 0;
      parity ^= 1;
    }
  }

  // ---- staged: old values, asked for while the reduction runs
  // ------------------------------------

  void request(int turn, u32 index) const {
    mbarrier_arrive_expect(barriers + 8 * index, kSlabBytes);
    load_box_2d(address(index),
                &p.out,
                barriers + 8 * index,
                column + turn * kColumns,
                static_cast<int>(out_row),
                policy_evict_first());
  }
  void request_first() const {
    if (!kStaged || !engine) return;
    if (lane == 0) {
      bulk_wait_read<0>();
      u32 index = slab;
#pragma unroll 1
      for (int turn = 0; turn < min(kTurns, kSlabs); ++turn) {
        if (turn_valid(turn)) request(turn, index);
        if (++index == kSlabs) index = 0;
      }
    }
    __syncwarp();
  }
  // Refills the slab of the turn before: its store has had a turn to be read.
  void request_next(int turn) const {
    constexpr int kLag = kSlabs > 1 ? 1 : 0;
    const int next = turn - kLag + kSlabs;
    if (turn < kLag || next >= kTurns || !turn_valid(next)) return;
    bulk_wait_read<kLag>();
    request(next, kLag == 0 ? slab : slab == 0 ? kSlabs - 1 : slab - 1);
  }

  // ---- the tile
  // ----------------------------------------------------------------------------------

  // Of a tile with so many accumulators a thread.
  template <int Count>
  static constexpr int kTurnsOf = Count * 2 / kColumns;

  template <int Count>
  void store(const float (&d)[Count]) {
    if (rows <= 0) return;
    if (!engine) {
      store_by_threads(d);
      return;
    }
#pragma unroll
    for (int turn = 0; turn < kTurnsOf<Count>; ++turn) {
      if (!turn_valid(turn)) break;
      const u32 at = address(slab);
      if constexpr (kStaged) {
        mbarrier_wait(barriers + 8 * slab, parity);
        put<true>(at, d, turn);
      } else {
        if (lane == 0) bulk_wait_read<kSlabs - 1>();
        __syncwarp();
        put<false>(at, d, turn);
      }
      fence_async_shared();
      __syncwarp();
      if (lane == 0) {
        const int x = column + turn * kColumns;
        if constexpr (g.add == Add::engine) {
          add_box_2d(&p.out, at, x, static_cast<int>(out_row));
        } else {
          store_box_2d(&p.out, at, x, static_cast<int>(out_row));
        }
        bulk_commit();
        if constexpr (kStaged && kTurns > kSlabs) request_next(turn);
      }
      advance();
    }
  }

  // A group's last rows, which the copy engine would write past, and outputs it cannot write.
  template <int Count>
  void store_by_threads(const float (&d)[Count]) const {
    const u32 at = address(0);
    if (lane == 0) bulk_wait_read<0>();
    __syncwarp();
#pragma unroll
    for (int turn = 0; turn < kTurnsOf<Count>; ++turn) {
      if (!turn_valid(turn)) break;
      put<false>(at, d, turn);
      __syncwarp();
      copy_out(at, column + turn * kColumns, columns - turn * kColumns);
      __syncwarp();
    }
  }
  void copy_out(u32 at, int x, int valid_columns) const {
    constexpr int kWide = 16 / Out::kBytes;
    auto* base = static_cast<typename Out::Storage*>(p.output);
#pragma unroll 1
    for (u32 i = lane; i < kSlabRows * 8; i += 32) {
      const u32 row = i / 8, unit = i % 8;
      if (static_cast<int>(row) >= rows || static_cast<int>(unit) * kWide >= valid_columns)
        continue;
      const Chunk c = load_shared(at + row * 128 + ((unit ^ (row & 7)) << 4));
      store_elements<Out, g.add != Add::none>(
          base + (out_row + row) * p.output_stride + x + unit * kWide, c, p.aligned != 0);
    }
  }

  // ---- accumulators of one turn into a swizzled slab, or added to what lies there
  // ------------------

  template <bool kAddTo, int Count>
  void put(u32 at, const float (&d)[Count], int turn) const {
    const u32 row = lane / 4, pair = lane % 4;
    if constexpr (Out::kBytes == 4) {
      // Odd rows take the columns in another order, so that a row's words and its neighbours' lie
      // in different banks.
      const bool odd = row % 2 != 0;
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        const int i = (turn * 4 + q) * 4, j = i + 8;
        const u32 first = word(at, row, odd ? q + 2 : q, pair);
        const u32 second = word(at, row, odd ? q : q + 2, pair);
        put_pair<kAddTo>(first, odd ? d[j] : d[i], odd ? d[j + 1] : d[i + 1]);
        put_pair<kAddTo>(first + 8 * 128, odd ? d[j + 2] : d[i + 2], odd ? d[j + 3] : d[i + 3]);
        put_pair<kAddTo>(second, odd ? d[i] : d[j], odd ? d[i + 1] : d[j + 1]);
        put_pair<kAddTo>(second + 8 * 128, odd ? d[i + 2] : d[j + 2], odd ? d[i + 3] : d[j + 3]);
      }
    } else if constexpr (kAddTo) {
#pragma unroll
      for (int q = 0; q < 8; ++q) {
        const int i = (turn * 8 + q) * 4;
        const u32 to = at + row * 128 + ((q ^ (row & 7)) << 4) + pair * 4;
        add_word(to, Out::pack(d[i], d[i + 1]));
        add_word(to + 8 * 128, Out::pack(d[i + 2], d[i + 3]));
      }
    } else {
      const u32 matrix_row = lane % 16, half = lane / 16;
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const int i = (turn * 8 + q * 2) * 4;
        const u32 unit = q * 2 + half;
        store_matrix_4(at + matrix_row * 128 + ((unit ^ (matrix_row & 7)) << 4),
                       Out::pack(d[i], d[i + 1]),
                       Out::pack(d[i + 2], d[i + 3]),
                       Out::pack(d[i + 4], d[i + 5]),
                       Out::pack(d[i + 6], d[i + 7]));
      }
    }
  }
  // Where a quarter of the 8 columns of block q of a row of fp32 lies.
  static u32 word(u32 at, u32 row, u32 q, u32 pair) {
    return at + row * 128 + (((q * 2 + pair / 2) ^ (row & 7)) << 4) + (pair & 1) * 8;
  }
  template <bool kAddTo>
  static void put_pair(u32 to, float low, float high) {
    if constexpr (kAddTo) {
      const Pair old = load_shared_pair(to);
      store_shared_pair(to, old.low + low, old.high + high);
    } else {
      store_shared_pair(to, low, high);
    }
  }
  static void add_word(u32 to, u32 word) {
    store_shared_word(to, add_pairs<Out>(load_shared_word(to), word));
  }
};

}  // namespace kiln::grouped_gemm
