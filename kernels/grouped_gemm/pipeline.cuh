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
  u32 tile_full(u32 record) const { return barrier(2 * kStages + record); }
  u32 tile_empty(u32 record) const { return barrier(2 * kStages + kTileRecords + record); }
  u32 slab_full(u32 index) const { return barrier(2 * kStages + 2 * kTileRecords + index); }

  // ---- the tiles in hand: a ring of records, written to every CTA by the first one's scheduler

  void write_tile(const Tile& t, u32 record, u32 to) const {
    const u32 at = tile_record(record);
    const Chunk a = {u32(t.group), u32(t.row), u32(t.rows), u32(t.column)};
    const Chunk b = {u32(t.columns), u32(t.first), u32(t.depth), u32(t.tail)};
    const Chunk c = {u32(t.sharing), 0, 0, 0};
    if (to == rank) {
      store_shared(at, a);
      store_shared(at + 16, b);
      store_shared(at + 32, c);
      mbarrier_arrive(tile_full(record));
    } else {
      const u32 mapped = map_to_rank(at, to);
      store_cluster(mapped, a);
      store_cluster(mapped + 16, b);
      store_cluster(mapped + 32, c);
      mbarrier_arrive_cluster_release(map_to_rank(tile_full(record), to));
    }
  }
  // A reader's side: wait and read; then leave, so that the record may be written again.
  Tile read_tile(const Turn<kTileRecords>& turn) const {
    wait_across(tile_full(turn.slot), turn.parity);
    const u32 at = tile_record(turn.slot);
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
  void leave_tile(u32 record) const { mbarrier_arrive(tile_empty(record)); }
  // Readers of a record: the two loaders and every warp that multiplies; for the first CTA the
  // other CTAs too, each by one arrival of relay_leaves.
  static constexpr u32 kReaders = 2 + kConsumerWarps;
  u32 tile_arrivals() const { return kReaders + (rank == 0 ? g.cluster_ctas - 1 : 0); }
  // In the CTAs that do not schedule: tells the first one when all readers have left a record. Its
  // release is wide enough for the cluster, and costs no reader the fence.
  void relay_leaves() const {
    for (Turn<kTileRecords> turn;; turn.next()) {
      if (read_tile(turn).group < 0) return;
      mbarrier_wait(tile_empty(turn.slot), turn.parity);
      mbarrier_arrive_cluster_release(map_to_rank(tile_empty(turn.slot), 0));
    }
  }
  // What another CTA stored before it arrived is seen after this.
  static void wait_across(u32 barrier, u32 parity) {
    if constexpr (g.cluster_ctas > 1) {
      mbarrier_wait_cluster(barrier, parity);
    } else {
      mbarrier_wait(barrier, parity);
    }
  }

 private:
  u32 tile_record(u32 record) const { return smem + tile_at(g) + record * kTileRecordBytes; }
};

}  // namespace kiln::grouped_gemm
