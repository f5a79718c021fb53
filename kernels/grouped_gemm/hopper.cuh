// The Hopper kernel: warps that feed (feed.cuh) and warpgroups that multiply, in persistent
// clusters around a ring of stages (pipeline.cuh).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/grouped_gemm/epilogue.cuh"
#include "kernels/grouped_gemm/feed.cuh"
#include "kernels/grouped_gemm/pipeline.cuh"
#include "templates/tma.cuh"
#include "templates/wgmma.cuh"

namespace kiln::grouped_gemm {

template <class C>
struct Hopper {
  static constexpr Geometry g = C::geometry;
  static constexpr u32 kStages = Pipeline<C>::kStages;
  static constexpr u32 kUnitBytes = Pipeline<C>::kUnitBytes;
  static constexpr u32 kConsumerWarps = Pipeline<C>::kConsumerWarps;
  static constexpr u32 kConsumerThreads = 32 * kConsumerWarps;
  static constexpr Major kA = Pipeline<C>::kA;
  static constexpr Major kB = Pipeline<C>::kB;

  const Pipeline<C>& in;

  // ---- arithmetic

  // This warp has read a stage: tells the loaders of every CTA that writes to it.
  void release(u32 stage) const {
    if constexpr (g.cluster_ctas == 1) {
      if (in.lane == 0) mbarrier_arrive(in.empty(stage));
    } else {
      if (in.lane < g.cluster_ctas) mbarrier_arrive_cluster(map_to_rank(in.empty(stage), in.lane));
    }
  }

  // wgrad: a stage may hold the next group's rows. Zeroes them in both operands, so that no
  // 0 * NaN is formed; all consumers take part.
  void zero_rows(u32 stage, int from) const {
    constexpr u32 kChunks = (a_units(g) + b_units(g)) * 8;  // of a row
    const u32 chunks = (g.tile_depth - from) * kChunks;
    for (u32 i = threadIdx.x; i < chunks; i += kConsumerThreads) {
      const u32 row = from + i / kChunks, unit = i / 8 % (kChunks / 8), chunk = i % 8;
      store_shared(in.a_stage(stage) + unit * kUnitBytes + row * 128 + chunk * 16, {0, 0, 0, 0});
    }
    fence_async_shared();
    named_barrier<1, kConsumerThreads>();
  }
  void wait_stage(const Turn<kStages>& turn, const Tile& t, int step) const {
    mbarrier_wait(in.full(turn.slot), turn.parity);
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

  // One multiplication of the ring is always in flight; a stage is let go of a step late. Columns
  // past the tile's are multiplied too, and not stored.
  template <int Columns>
  void compute(Turn<kStages>& turn, const Tile& t, u32 group, Epilogue<C>& epilogue) const {
    float d[Columns / 2];
#pragma unroll
    for (float& each : d) each = 0;
    u32 previous = 0;
    for (int step = 0; step < t.depth; ++step) {
      wait_stage(turn, t, step);
      const u64 a = wgmma_operand<kA>(in.a_stage(turn.slot) + group * kUnitBytes, kUnitBytes);
      const u64 b = wgmma_operand<kB>(in.b_stage(turn.slot), kUnitBytes);
      wgmma_hold(d);
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < g.tile_depth / 16; ++k)
        Wgmma<Columns, kA, kB>::issue(d, a + k * kWgmmaStep<kA>, b + k * kWgmmaStep<kB>);
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
    epilogue.store(d);
  }

  void consume(u32 group) const {
    const u32 warp = threadIdx.x / 32;
    Epilogue<C> epilogue{in.p,
                         in.smem + slabs_at(g) + warp * g.slabs * kSlabBytes,
                         in.slab_full(warp * g.slabs),
                         in.lane};
    Turn<kStages> turn;
    for (Turn<kTileRecords> tile;; tile.next()) {
      const Tile t = in.read_tile(tile);
      __syncwarp();
      if (in.lane == 0) in.leave_tile(tile.slot);
      if (t.group < 0) break;
      const int skipped = static_cast<int>(group) * kUnit;
      if (t.columns == 0 || t.rows <= skipped) {
        idle(turn, t);
        continue;
      }
      const int in_tile = skipped + static_cast<int>(warp % 4) * kSlabRows;
      const i64 first = g.op == Op::wgrad ? t.group * i64{g.rows} : 0;
      epilogue.open(first + t.row + in_tile, t.rows - in_tile, t.column, t.columns);
      constexpr int kPart = part_columns(g);
      if constexpr (kPart > 0) {
        if (t.columns <= kPart) {
          compute<kPart>(turn, t, group, epilogue);
          continue;
        }
      }
      compute<g.tile_columns>(turn, t, group, epilogue);
    }
    if (in.lane == 0) bulk_wait_all();
  }

  // ---- the kernel

  void initialise() const {
    for (u32 i = 0; i < kStages; ++i) {
      mbarrier_init(in.full(i), 2);  // the loaders of a and of b
      mbarrier_init(in.empty(i), g.cluster_ctas * kConsumerWarps);
    }
    for (u32 i = 0; i < kTileRecords; ++i) {
      mbarrier_init(in.tile_full(i), 1);
      mbarrier_init(in.tile_empty(i), in.tile_arrivals());
    }
    for (u32 i = 0; i < kConsumerWarps * g.slabs; ++i) mbarrier_init(in.slab_full(i), 1);
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
      prefetch_tensor_map(&in.p.a);
      prefetch_tensor_map(&in.p.b);
      prefetch_tensor_map(&in.p.out);
      initialise();
    }
    meet();
    if (warp >= kConsumerWarps) {
      release_registers<kLoaderRegisters>();
      const Feed<C> feed{in};
      if (warp == kConsumerWarps && in.lane == 0) feed.template load<true>();
      if (warp == kConsumerWarps + 1) {
        if (in.rank == 0) {
          feed.schedule(blockIdx.x / g.cluster_ctas, gridDim.x / g.cluster_ctas);
        } else if (in.lane == 0) {
          in.relay_leaves();
        }
      }
      if (warp == kConsumerWarps + 2 && in.lane == 0) feed.template load<false>();
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
  const Pipeline<C> pipeline{p, shared_address(memory), threadIdx.x % 32, rank};
  const Hopper<C> kernel{pipeline};
  kernel.run();
}

}  // namespace kiln::grouped_gemm
