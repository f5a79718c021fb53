// Sums over lanes, or what takes their place, by the adjacent-first binary tree: (0+1), (2+3), ...;
// then pairs of pairs; and so on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/types.cuh"

namespace kiln {

constexpr int log2_of(int value) { return value <= 1 ? 0 : 1 + log2_of(value / 2); }
constexpr int reversed_bits(int value, int bits) {
  int out = 0;
  for (int i = 0; i < bits; ++i) out |= (value >> i & 1) << (bits - 1 - i);
  return out;
}

// Combine gives of(a, b), for which a and b may change places.
struct Add {
  static float of(float a, float b) { return __fadd_rn(a, b); }
};

// V values a thread, each summed over Width neighbouring lanes of a warp (Width a power of two, V
// <= Width). While a thread holds several values, partners exchange halves instead of copies, which
// leaves the pairs, so the bits, alone and needs V - 1 + log2(Width / V) shuffles. Returns the sum
// of the value whose index is tree_slot<V>().
template <int V, int Width, class Combine = Add>
inline float lane_tree(float (&value)[V]) {
  static_assert((V & (V - 1)) == 0 && V <= Width && Width <= 32,
                "values must be a power of two within the lanes");
  const u32 lane = threadIdx.x & 31;
  int held = V;
#pragma unroll
  for (int step = 0; step < log2_of(Width); ++step) {
    const u32 mask = 1u << step;
    if (held > 1) {
      held /= 2;
      const bool upper = (lane & mask) != 0;
#pragma unroll
      for (int j = 0; j < V / 2; ++j) {
        if (j < held) {
          const float send = upper ? value[j] : value[j + held];
          const float keep = upper ? value[j + held] : value[j];
          value[j] = Combine::of(keep, __shfl_xor_sync(0xffffffffu, send, mask));
        }
      }
    } else {
      value[0] = Combine::of(value[0], __shfl_xor_sync(0xffffffffu, value[0], mask));
    }
  }
  return value[0];
}

// The index of the value that lane_tree<V> leaves in this thread: the low bits of the lane,
// reversed.
template <int V>
inline int tree_slot() {
  return V == 1 ? 0 : static_cast<int>(__brev(threadIdx.x & (V - 1)) >> (32 - log2_of(V)));
}

}  // namespace kiln
