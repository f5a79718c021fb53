// The warps that feed the multiplication: one draws tiles, two load operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/grouped_gemm/pipeline.cuh"
#include "templates/tma.cuh"

namespace kiln::grouped_gemm {

template <class C>
struct Feed {
  static constexpr Geometry g = C::geometry;
  static constexpr u32 kStages = Pipeline<C>::kStages;
  static constexpr u32 kUnitBytes = Pipeline<C>::kUnitBytes;
  static constexpr Major kA = Pipeline<C>::kA;
  static constexpr Major kB = Pipeline<C>::kB;
  static constexpr int kCtas = g.cluster_ctas;
  static constexpr u16 kEveryRank = (1 << kCtas) - 1;

  const Pipeline<C>& in;

  // The first item of a cluster is its own number, the next ones are drawn: who computes a tile
  // does not touch its bits.
  void schedule(u32 cluster, u32 clusters) const {
    Walk<C> walk{in.p.ends, in.p.rows, in.p.groups, in.lane};
    if constexpr (g.op != Op::wgrad) walk.load_window();
    if (!walk.knows_split && walk.few_items(clusters)) walk.split_last(clusters);
    i64 item = cluster;
    Turn<kTileRecords> turn, previous;
    for (bool late = false;; turn.next()) {
      const Place at = walk.find(item);
      in.wait_across(in.tile_empty(turn.slot), turn.parity ^ 1);
      if (late) in.wait_across(in.tile_empty(previous.slot), previous.parity);
      const Tile t = walk.tile(at, in.lane);
      if (in.lane < g.cluster_ctas) in.write_tile(t, turn.slot, in.lane);
      if (at.group < 0) break;
      late = t.depth > kShortTileSteps;
      previous = turn;
      if (!walk.knows_split) walk.split_last(clusters);
      if (in.lane == 0) item = clusters + static_cast<i64>(atomic_add(&in.p.counters[0], 1));
      item = __shfl_sync(0xffffffffu, item, 0);
    }
    if (in.lane == 0 &&
        atomic_add(&in.p.counters[1], 1) == clusters - 1) {  // nobody draws any more
      in.p.counters[0] = 0;
      in.p.counters[1] = 0;
    }
  }

  // ---- loads

  void load_a(u32 stage, const Tile& t, int unit, int step, u64 policy) const {
    const u32 to = in.a_stage(stage) + unit * kUnitBytes;
    const int outer = t.row + unit * kUnit;
    const int x = kA == Major::reduction ? step * g.tile_depth : outer;
    const int y = kA == Major::reduction ? outer : t.first + step * g.tile_depth;
    if (t.sharing == kShareA) {
      load_box_2d_multicast(to, &in.p.a, in.full(stage), x, y, kEveryRank, policy);
    } else {
      load_box_2d(to, &in.p.a, in.full(stage), x, y, policy);
    }
  }
  void load_b(u32 stage, const Tile& t, int unit, int step, u64 policy) const {
    const u32 to = in.b_stage(stage) + unit * kUnitBytes;
    const int outer = t.column + unit * kUnit;
    const bool shared = t.sharing == kShareB;
    if constexpr (g.op == Op::wgrad) {
      const int y = t.first + step * g.tile_depth;
      if (shared) {
        load_box_2d_multicast(to, &in.p.b, in.full(stage), outer, y, kEveryRank, policy);
      } else {
        load_box_2d(to, &in.p.b, in.full(stage), outer, y, policy);
      }
    } else {
      const int x = kB == Major::reduction ? step * g.tile_depth : outer;
      const int y = kB == Major::reduction ? outer : step * g.tile_depth;
      if (shared) {
        load_box_3d_multicast(to, &in.p.b, in.full(stage), x, y, t.group, kEveryRank, policy);
      } else {
        load_box_3d(to, &in.p.b, in.full(stage), x, y, t.group, policy);
      }
    }
  }

  // One thread an operand: issuing copies takes so long that one thread for both holds up the steps
  // (1.5% on 65,536 rows, n 3,072, k 4,096).
  template <bool kOfA>
  void load() const {
    constexpr int kUnits = kOfA ? a_units(g) : b_units(g);
    constexpr int kShared = kOfA ? kShareA : kShareB;
    // Weights of groups no taller than a cluster's tiles are read once (E 256 with 128 rows each,
    // n 4,096, k 2,048, on an H200: dgrad 4.5% faster, forward 0.5%; 1% slower where they are not).
    const bool once = g.op != Op::wgrad && !kOfA &&
                      in.p.rows <= static_cast<i64>(kCtas) * g.tile_rows * in.p.groups;
    const u64 policy = once ? policy_evict_first() : policy_evict_normal();
    Turn<kStages> turn;
    for (Turn<kTileRecords> tile;; tile.next()) {
      const Tile t = in.read_tile(tile);
      in.leave_tile(tile.slot);
      if (t.group < 0) return;
      int units = static_cast<int>(ceil_div(kOfA ? t.rows : t.columns, kUnit));
      if (kOfA && t.columns == 0 && t.sharing != kShareA) units = 0;
      for (int step = 0; step < t.depth; ++step) {
        mbarrier_wait(in.empty(turn.slot), turn.parity ^ 1);
        mbarrier_arrive_expect(in.full(turn.slot), units * kUnitBytes);
#pragma unroll
        for (int unit = 0; unit < kUnits; ++unit) {
          if (unit >= units || (t.sharing == kShared && unit % kCtas != static_cast<int>(in.rank)))
            continue;
          if constexpr (kOfA) {
            load_a(turn.slot, t, unit, step, policy);
          } else {
            load_b(turn.slot, t, unit, step, policy);
          }
        }
        turn.next();
      }
    }
  }
};

}  // namespace kiln::grouped_gemm
