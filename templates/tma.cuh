// The copy engine: tiles between global and shared memory by tensor map. sm_90 and up.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/memory.cuh"
#include "templates/tensor_map.hpp"

namespace kiln {

inline void prefetch_tensor_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Cache policies for what is read once, and for the rest.
inline u64 policy_evict_first() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
inline u64 policy_evict_normal() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// One box to shared memory; x is the fastest coordinate. Elements outside the tensor arrive as
// zeros and are counted by the barrier.
inline void load_box_2d(u32 shared, const TensorMap* map, u32 barrier, int x, int y, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared),
      "l"(map),
      "r"(barrier),
      "r"(x),
      "r"(y),
      "l"(policy)
      : "memory");
}
inline void load_box_3d(
    u32 shared, const TensorMap* map, u32 barrier, int x, int y, int z, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared),
      "l"(map),
      "r"(barrier),
      "r"(x),
      "r"(y),
      "r"(z),
      "l"(policy)
      : "memory");
}
// To the same place, and onto the same barrier, of every CTA of the cluster in `ranks` (a bit
// each).
inline void load_box_2d_multicast(
    u32 shared, const TensorMap* map, u32 barrier, int x, int y, u16 ranks, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(shared),
      "l"(map),
      "r"(barrier),
      "r"(x),
      "r"(y),
      "h"(ranks),
      "l"(policy)
      : "memory");
}
inline void load_box_3d_multicast(
    u32 shared, const TensorMap* map, u32 barrier, int x, int y, int z, u16 ranks, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6, %7;" ::"r"(shared),
      "l"(map),
      "r"(barrier),
      "r"(x),
      "r"(y),
      "r"(z),
      "h"(ranks),
      "l"(policy)
      : "memory");
}

// One box from shared memory; what lies outside the tensor is not written.
inline void store_box_2d(const TensorMap* map, u32 shared, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
      "r"(shared),
      "r"(x),
      "r"(y)
      : "memory");
}
// The same, adding fp32 to memory with one rounding; keeps subnormals (red.global.add.f32 does
// not).
inline void add_box_2d(const TensorMap* map, u32 shared, int x, int y) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
      " [%0, {%2, %3}], [%1];" ::"l"(map),
      "r"(shared),
      "r"(x),
      "r"(y)
      : "memory");
}
inline void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until at most Pending of this thread's groups still read shared memory.
template <int Pending>
inline void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
// Until all of this thread's groups have been written.
inline void bulk_wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

// Orders this thread's ordinary accesses of shared memory before later ones of the copy engine and
// the tensor cores.
inline void fence_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

}  // namespace kiln
