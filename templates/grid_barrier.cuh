// A barrier of all CTAs of a cooperative launch on one counter that needs no reset.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/memory.cuh"

namespace kiln {

// All CTAs together add 2^31, so the top bit flips once a barrier and the low bits return to zero:
// the counter serves the next barrier, the next launch, and a launch with another grid. Every CTA
// must be resident (cooperative launch), else this waits for ever. Writes of every thread before
// the barrier are visible to every thread after it.
inline void grid_barrier(u32* counter) {
  // Read while this CTA has not arrived, so before the bit can flip; and its trip to L2 is over by
  // the time that this CTA's writes are done, which an atomic add that returns it must first await.
  const u32 before = threadIdx.x == 0 ? load_relaxed(counter) : 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    add_release(counter, blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u);
    while (((before ^ load_acquire(counter)) & 0x80000000u) == 0) {
    }
  }
  __syncthreads();
}

}  // namespace kiln
