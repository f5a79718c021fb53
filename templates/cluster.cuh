// Thread block clusters: ranks, barriers, and stores into a neighbour's shared memory. sm_90 and
// up.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/memory.cuh"

namespace kiln {

inline u32 cluster_rank() {
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// The address in CTA `rank` of what lies at `shared` in this one.
inline u32 map_to_rank(u32 shared, u32 rank) {
  u32 mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(shared), "r"(rank));
  return mapped;
}

inline void store_cluster(u32 mapped, const Chunk& c) {
  asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(mapped),
               "r"(c.word[0]),
               "r"(c.word[1]),
               "r"(c.word[2]),
               "r"(c.word[3])
               : "memory");
}

// `mapped` and `barrier` are of one CTA. What waits for the barrier's bytes sees the store; unlike
// a cluster barrier this waits for no store to global memory.
inline void store_cluster_async(u32 mapped, float value, u32 barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(
          mapped),
      "f"(value),
      "r"(barrier)
      : "memory");
}

// All threads of all CTAs of the cluster; stores before it are visible after it.
inline void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
inline void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

}  // namespace kiln
