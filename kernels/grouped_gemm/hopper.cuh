// The Hopper kernel: warps that load, a warp that draws tiles, and warpgroups that multiply, in
// persistent clusters. Top to bottom: the shared state, the roles, the kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/grouped_gemm/epilogue.cuh"
#include "kernels/grouped_gemm/layout.hpp"
#include "kernels/grouped_gemm/parameters.hpp"
#include "kernels/grouped_gemm/tiles.cuh"
#include "templates/cluster.cuh"
#include "templates/mbarrier.cuh"
#include "templates/tma.cuh"
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
struct Hopper {
  static constexpr Geometry g = C::geometry;
  static constexpr u32 kStages = g.stages;
  static constexpr u32 kConsumerWarps = consumer_warps(g);
  static constexpr u32 kConsumerThreads = 32 * kConsumerWarps;
  static constexpr u32 kUnitBytes = unit_bytes(g);
  static constexpr Major kA = g.op == Op::wgrad ? Major::outer : Major::reduction;
  static constexpr Major kB = g.op == Op::forward ? Major::reduction : Major::outer;
  static constexpr u16 kBothRanks = 3;
  static_assert(g.cluster_ctas == 1 || g.cluster_ctas == 2, "an operand is shared by two CTAs");
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

  // ---- the tile in hand: written to both CTAs by the first one's scheduler
  // ------------------------

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

  // The first item of a cluster is its own number, the next ones are drawn: who computes a tile
  // does not touch its bits. One tile is known ahead, so that the last ones are drawn late.
  void schedule(u32 cluster, u32 clusters) const {
    Walk<C> walk{p.ends, p.rows, p.groups, lane};
    if constexpr (g.op != Op::wgrad) walk.load_window();
    i64 item = cluster;
    for (u32 parity = 0;; parity ^= 1) {
      const Place at = walk.find(item);
      mbarrier_wait(tile_empty(), parity ^ 1);
      if (lane < g.cluster_ctas) write_tile(walk.tile(at, lane), lane);
      if (at.group < 0) break;
      if (lane == 0) item = clusters + static_cast<i64>(atomic_add(&p.counters[0], 1));
      item = __shfl_sync(0xffffffffu, item, 0);
    }
    if (lane == 0 && atomic_add(&p.counters[1], 1) == clusters - 1) {  // nobody draws any more
      p.counters[0] = 0;
      p.counters[1] = 0;
    }
  }

  // ---- loads
  // -------------------------------------------------------------------------------------

  void load_a(u32 stage, const Tile& t, int unit, int step, u64 policy) const {
    const u32 to = a_stage(stage) + unit * kUnitBytes;
    const int outer = t.row + unit * kUnit;
    const int x = kA == Major::reduction ? step * g.tile_depth : outer;
    const int y = kA == Major::reduction ? outer : t.first + step * g.tile_depth;
    if (t.sharing == kShareA) {
      load_box_2d_multicast(to, &p.a, full(stage), x, y, kBothRanks, policy);
    } else {
      load_box_2d(to, &p.a, full(stage), x, y, policy);
    }
  }
  void load_b(u32 stage, const Tile& t, int unit, int step, u64 policy) const {
    const u32 to = b_stage(stage) + unit * kUnitBytes;
    const int outer = t.column + unit * kUnit;
    const bool shared = t.sharing == kShareB;
    if constexpr (g.op == Op::wgrad) {
      const int y = t.first + step * g.tile_depth;
      if (shared) {
        load_box_2d_multicast(to, &p.b, full(stage), outer, y, kBothRanks, policy);
      } else {
        load_box_2d(to, &p.b, full(stage), outer, y, policy);
      }
    } else {
      const int x = kB == Major::reduction ? step * g.tile_depth : outer;
      const int y = kB == Major::reduction ? outer : step * g.tile_depth;
      if (shared) {
        load_box_3d_multicast(to, &p.b, full(stage), x, y, t.group, kBothRanks, policy);
      } else {
        load_box_3d(to, &p.b, full(stage), x, y, t.group, policy);
      }
    }
  }

  // One thread an operand: issuing copies takes so long that one thread for both holds up the steps
  // (1.5% on 65,536 rows, n 3,072, k 4,096).
  template <bool kOfA>
  void load() const {
    constexpr int kUnits = kOfA ? a_units(g) : b_units(g);
    constexpr int kShared = kOfA ? kShareA : kShareB;
    const u64 policy = policy_evict_normal();
    Turn<kStages> turn;
    for (u32 parity = 0;; parity ^= 1) {
      const Tile t = read_tile(parity);
      leave_tile();
      if (t.group < 0) return;
      int units = static_cast<int>(ceil_div(kOfA ? t.rows : t.columns, kUnit));
      if (kOfA && t.columns == 0 && t.sharing != kShareA) units = 0;
      for (int step = 0; step < t.depth; ++step) {
        mbarrier_wait(empty(turn.slot), turn.parity ^ 1);
        mbarrier_arrive_expect(full(turn.slot), units * kUnitBytes);
#pragma unroll
        for (int unit = 0; unit < kUnits; ++unit) {
          if (unit >= units || (t.sharing == kShared && unit % 2 != static_cast<int>(rank)))
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

  // ---- arithmetic
  // --------------------------------------------------------------------------------

  // This warp has read a stage: tells the loaders of every CTA that writes to it.
  void release(u32 stage) const {
    if constexpr (g.cluster_ctas == 1) {
      if (lane == 0) mbarrier_arrive(empty(stage));
    } else {
      if (lane < g.cluster_ctas) mbarrier_arrive_cluster(map_to_rank(empty(stage), lane));
    }
  }

  // wgrad: a stage may hold the next group's rows. Zeroes them in both operands, so that no
  // 0 * NaN is formed; all consumers take part.
  void zero_rows(u32 stage, int from) const {
    constexpr u32 kChunks = (a_units(g) + b_units(g)) * 8;  // of a row
    const u32 chunks = (g.tile_depth - from) * kChunks;
    for (u32 i = threadIdx.x; i < chunks; i += kConsumerThreads) {
      const u32 row = from + i / kChunks, unit = i / 8 % (kChunks / 8), chunk = i % 8;
      store_shared(a_stage(stage) + unit * kUnitBytes + row * 128 + chunk * 16, {0, 0, 0, 0});
    }
    fence_async_shared();
    named_barrier<1, kConsumerThreads>();
  }
  void wait_stage(const Turn<kStages>& turn, const Tile& t, int step) const {
    mbarrier_wait(full(turn.slot), turn.parity);
    if constexpr (g.op == Op::wgrad) {
      if (step + 1 == t.depth && t.tail != g.tile_depth) zero_rows(turn.slot, t.tail);
    }
  }

  // A warpgroup without rows or columns of the tile keeps the others company.
  void idle(Turn<kStages>& turn, const Tile& t) const {
    for (int step = 0; step < t.depth; ++step) {
      wait_stage(turn, t, step);
      release(turn.slot);
      turn.next();
    }
  }

  // One multiplication of the ring is always in flight; a stage is let go of a step late.
  template <int Count>
  void multiply(float (&d)[Count],
                Turn<kStages>& turn,
                const Tile& t,
                u32 group,
                const Epilogue<C>& epilogue) const {
    u32 previous = 0;
    for (int step = 0; step < t.depth; ++step) {
      wait_stage(turn, t, step);
      const u64 a = wgmma_operand<kA>(a_stage(turn.slot) + group * kUnitBytes, kUnitBytes);
      const u64 b = wgmma_operand<kB>(b_stage(turn.slot), kUnitBytes);
      wgmma_hold(d);
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < g.tile_depth / 16; ++k)
        Wgmma<g.tile_columns, kA, kB>::issue(d, a + k * kWgmmaStep<kA>, b + k * kWgmmaStep<kB>);
      wgmma_commit();
      wgmma_hold(d);
      if (step == 0) {
        epilogue.request_first();
      } else {
        wgmma_wait<1>();
        release(previous);
      }
      previous = turn.slot;
      turn.next();
    }
    wgmma_wait<0>();
    wgmma_hold(d);
    if (t.depth > 0) {
      release(previous);
    } else {
      epilogue.request_first();
    }
  }

  void consume(u32 group) const {
    const u32 warp = threadIdx.x / 32;
    Epilogue<C> epilogue{
        p, smem + slabs_at(g) + warp * g.slabs * kSlabBytes, slab_full(warp * g.slabs), lane};
    Turn<kStages> turn;
    for (u32 parity = 0;; parity ^= 1) {
      const Tile t = read_tile(parity);
      __syncwarp();
      if (lane == 0) leave_tile();
      if (t.group < 0) break;
      const int skipped = static_cast<int>(group) * kUnit;
      if (t.columns == 0 || t.rows <= skipped) {
        idle(turn, t);
        continue;
      }
      const int in_tile = skipped + static_cast<int>(warp % 4) * kSlabRows;
      const i64 first = g.op == Op::wgrad ? t.group * i64{g.rows} : 0;
      epilogue.open(first + t.row + in_tile, t.rows - in_tile, t.column, t.columns);
      float d[g.tile_columns / 2];
#pragma unroll
      for (float& each : d) each = 0;
      multiply(d, turn, t, group, epilogue);
      epilogue.store(d);
    }
    if (lane == 0) bulk_wait_all();
  }

  // ---- the kernel
  // --------------------------------------------------------------------------------

  void initialise() const {
    for (u32 i = 0; i < kStages; ++i) {
      mbarrier_init(full(i), 2);  // the loaders of a and of b
      mbarrier_init(empty(i), g.cluster_ctas * kConsumerWarps);
    }
    mbarrier_init(tile_full(), 1);
    mbarrier_init(tile_empty(), g.cluster_ctas * (2 + kConsumerWarps));
    for (u32 i = 0; i < kConsumerWarps * g.slabs; ++i) mbarrier_init(slab_full(i), 1);
    fence_mbarrier_init();
  }

  static void meet() {
    if constexpr (g.cluster_ctas > 1) {
      __syncwarp();
      cluster_arrive();
      cluster_wait();
    } else {
      __syncthreads();
    }
  }

  void run() const {
    const u32 warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
      prefetch_tensor_map(&p.a);
      prefetch_tensor_map(&p.b);
      prefetch_tensor_map(&p.out);
      initialise();
    }
    meet();
    if (warp >= kConsumerWarps) {
      release_registers<kLoaderRegisters>();
      if (warp == kConsumerWarps && lane == 0) load<true>();
      if (warp == kConsumerWarps + 1 && rank == 0)
        schedule(blockIdx.x / g.cluster_ctas, gridDim.x / g.cluster_ctas);
      if (warp == kConsumerWarps + 2 && lane == 0) load<false>();
    } else {
      acquire_registers<kConsumerRegisters>();
      consume(warp / 4);
    }
    meet();  // a neighbour may still signal this CTA's barriers
  }
};

template <class C>
inline void hopper(const HopperParameters& p) {
  static_assert(C::smem_bytes == smem_bytes(C::geometry), "planner and kernel disagree");
  static_assert(C::threads == threads(C::geometry), "planner and kernel disagree");
  extern __shared__ __align__(1024) unsigned char memory[];  // swizzled atoms are 1,024 bytes
  const u32 rank = C::geometry.cluster_ctas > 1 ? cluster_rank() : 0;
  const Hopper<C> kernel{p, shared_address(memory), threadIdx.x % 32, rank};
  kernel.run();
}

}  // namespace kiln::grouped_gemm
