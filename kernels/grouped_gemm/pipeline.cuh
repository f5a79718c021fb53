// What the roles of the Hopper kernel share: where stages, slabs and barriers lie, and the tile in
// hand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/grouped_gemm/layout.hpp"
#include "kernels/grouped_gemm/parameters.hpp"
#include "kernels/grouped_gemm/tiles.cuh"
#include "templates/cluster.cuh"
#include "templates/mbarrier.cuh"
#include "templates/wgmma.cuh"

namespace kiln::grouped_gemm {

// A position in a ring of Slots: which slot, and the parity of its current turn.
template <u32 Slots>
struct Turn {
  u32 slot = 0;
  u32 parity = 0;
  void next() {
    if (++slot == Slots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

template <class C>
struct Pipeline {
  static constexpr Geometry g = C::geometry;
  static constexpr u32 kStages = g.stages;
  static constexpr u32 kConsumerWarps = consumer_warps(g);
  static constexpr u32 kUnitBytes = unit_bytes(g);
  static constexpr Major kA = g.op == Op::wgrad ? Major::outer : Major::reduction;
  static constexpr Major kB = g.op == Op::forward ? Major::reduction : Major::outer;
  static_assert(g.cluster_ctas == 1 || g.cluster_ctas == 2 || g.cluster_ctas == 4,
                "an operand comes in units of two or four, which the CTAs share out");
  static_assert(g.tile_depth == 64 || kA == Major::outer, "a unit's rows are 128 bytes");

  const HopperParameters& p;
  u32 smem;
  u32 lane;
  u32 rank;

  u32 a_stage(u32 stage) const { return smem + stage * stage_bytes(g); }
  u32 b_stage(u32 stage) const { return a_stage(stage) + a_units(g) * kUnitBytes; }
  u32 barrier(u32 index) const { return smem + barriers_at(g) + 8 * index; }
  u32 full(u32 stage) const { return barrier(stage); }
  u32 empty(u32 stage) const { return barrier(kStages + stage); }
  u32 tile_full() const { return barrier(2 * kStages); }
  u32 tile_empty() const { return barrier(2 * kStages + 1); }
  u32 slab_full(u32 index) const { return barrier(2 * kStages + 2 + index); }

  // ---- the tile in hand: written to every CTA by the first one's scheduler

  void write_tile(const Tile& t, u32 to) const {
    const u32 at = smem + tile_at(g);
    const Chunk a = {u32(t.group), u32(t.row), u32(t.rows), u32(t.column)};
    const Chunk b = {u32(t.columns), u32(t.first), u32(t.depth), u32(t.tail)};
    const Chunk c = {u32(t.sharing), 0, 0, 0};
    if (to == rank) {
      store_shared(at, a);
      store_shared(at + 16, b);
      store_shared(at + 32, c);
      mbarrier_arrive(tile_full());
    } else {
      const u32 mapped = map_to_rank(at, to);
      store_cluster(mapped, a);
      store_cluster(mapped + 16, b);
      store_cluster(mapped + 32, c);
      mbarrier_arrive_cluster_release(map_to_rank(tile_full(), to));
    }
  }
  // A reader's side: wait, read, and tell the first CTA's scheduler that it may write the next.
  Tile read_tile(u32 parity) const {
    if constexpr (g.cluster_ctas > 1) {
      mbarrier_wait_cluster(tile_full(), parity);
    } else {
      mbarrier_wait(tile_full(), parity);
    }
    const u32 at = smem + tile_at(g);
    const Chunk a = load_shared(at), b = load_shared(at + 16), c = load_shared(at + 32);
    return {int(a.word[0]),
            int(a.word[1]),
            int(a.word[2]),
            int(a.word[3]),
            int(b.word[0]),
            int(b.word[1]),
            int(b.word[2]),
            int(b.word[3]),
            int(c.word[0])};
  }
  void leave_tile() const {
    if constexpr (g.cluster_ctas > 1) {
      mbarrier_arrive_cluster(map_to_rank(tile_empty(), 0));
    } else {
      mbarrier_arrive(tile_empty());
    }
  }
};

}  // namespace kiln::grouped_gemm
