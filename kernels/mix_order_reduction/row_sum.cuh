// Row sums of one step: lanes of a thread's rows, over the group that owns the row, in the order of
// order.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/joins.cuh"
#include "kernels/mix_order_reduction/rows.cuh"
#include "templates/mbarrier.cuh"
#include "templates/tree.cuh"

namespace kiln::mix_order_reduction {

// The barriers of a cluster's row sums; one thread a CTA calls this, before a cluster barrier.
template <class C>
inline void init_row_sums(float* shared) {
  const u32 barriers = shared_address(shared) + static_cast<u32>(row_sum_bytes(C::geometry));
  mbarrier_init(barriers, 1);
  mbarrier_init(barriers + 8, 1);
  fence_mbarrier_init();
}

// `Sums`, a power of two, are joined by J; several of one row count as rows.
// lane_sum[row * kLanesPerThread + k] holds lane k of this thread; sum[row] receives the row's sum
// in every thread of the group. `shared` holds reduction_bytes; `turn` counts calls, modulo 4 in a
// cluster: the low bit is the buffer, the high one the phase of its barrier. All threads of the CTA
// call this. Two buffers do: who writes one again has read the other, and that took a sum from
// every warp that read the first.
template <class C, Join J, int Sums>
inline void row_sums(
    float (&lane_sum)[C::geometry.rows_per_step * Sums * Columns<C>::kLanesPerThread],
    float (&sum)[C::geometry.rows_per_step * Sums],
    float* shared,
    int turn) {
  using Owned = Columns<C>;
  using Combine = Joining<J>;
  constexpr int kRows = C::geometry.rows_per_step * Sums;
  constexpr int kK = Owned::kLanesPerThread;
  constexpr int kValues = kRows * kK;
  if constexpr (kValues > Owned::kPartThreads) {  // a few threads a row: a tree a value
    static_assert(kK == 1, "a thread of a narrow group holds one lane");
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float value[1] = {lane_sum[r]};
      sum[r] = lane_tree<1, Owned::kPartThreads, Combine>(value);
    }
  } else {
    const float mine = lane_tree<kValues, Owned::kPartThreads, Combine>(lane_sum);
    if constexpr (cta_row(C::geometry.n)) {
      constexpr int kCtas = C::geometry.cluster_ctas;
      constexpr int kParts = lanes(C::geometry.n) / 32;
      constexpr int kCtaParts = kK * (C::geometry.threads / 32);
      float* buffer =
          shared + (turn & 1) * C::geometry.rows_per_step * C::geometry.row_sums * kParts;
      const u32 barrier =
          shared_address(shared) + static_cast<u32>(row_sum_bytes(C::geometry)) + (turn & 1) * 8;
      if constexpr (kCtas > 1) {
        if (threadIdx.x == 0)
          mbarrier_arrive_expect(barrier, kCtas * (C::geometry.threads / 32) * kValues * 4);
      }
      if (threadIdx.x % 32 < kValues) {
        const int slot = tree_slot<kValues>();
        const int part = slot % kK * (C::geometry.threads / 32) + threadIdx.x / 32;
        if constexpr (kCtas == 1) {
          buffer[slot / kK * kParts + part] = mine;
        } else {
          const u32 address =
              shared_address(buffer + slot / kK * kParts + Owned::first_lane() / 32 + part);
#pragma unroll
          for (u32 rank = 0; rank < kCtas; ++rank)
            store_cluster_async(map_to_rank(address, rank), mine, map_to_rank(barrier, rank));
        }
      }
      if constexpr (kCtas == 1) {
        __syncthreads();
      } else {
        // What neighbours stored lies in this CTA's shared memory, which no cache stands before, so
        // the wait need not acquire for the cluster: that would drop the L1 each step.
        mbarrier_wait(barrier, turn >> 1);
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        // The tree over the parts, a part a lane: an eighth less to compile than in registers.
        const int part = threadIdx.x % kParts;
        float value[1] = {part < kCtaParts * kCtas ? buffer[r * kParts + part] : identity(J)};
        sum[r] = lane_tree<1, kParts, Combine>(value);
      }
    } else {
      // The remaining levels join the lanes a thread held: slots that differ in k alone sit in
      // lanes that differ in the high ones of the log2(kValues) selecting bits.
      float value = mine;
#pragma unroll
      for (int step = 0; step < log2_of(kK); ++step) {
        value = Combine::of(
            value, __shfl_xor_sync(0xffffffffu, value, 1u << (log2_of(kValues) - 1 - step)));
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int source =
            (threadIdx.x & 31 & ~(Owned::kPartThreads - 1)) | reversed_bits(r, log2_of(kRows));
        sum[r] = __shfl_sync(0xffffffffu, value, source);
      }
    }
  }
}

}  // namespace kiln::mix_order_reduction
