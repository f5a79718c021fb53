// Loads, stores and asynchronous copies: one function per PTX instruction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/types.cuh"

namespace kiln {

inline u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

// 16 bytes, global to shared, past L1. Both addresses are multiples of 16.
inline void copy_async_16(u32 shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}
// The same as copy_async_16, or 16 zeroed bytes; `global` is then not read.
inline void copy_async_16_or_zero(u32 shared, const void* global, bool read) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(read ? 16 : 0)
      : "memory");
}
inline void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most Pending of this thread's committed groups are unfinished.
template <int Pending>
inline void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

inline Chunk load_shared(u32 shared) {
  Chunk c;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(c.word[0]), "=r"(c.word[1]), "=r"(c.word[2]), "=r"(c.word[3])
               : "r"(shared)
               : "memory");
  return c;
}
inline void store_shared(u32 shared, const Chunk& c) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared),
               "r"(c.word[0]),
               "r"(c.word[1]),
               "r"(c.word[2]),
               "r"(c.word[3])
               : "memory");
}

struct Pair {
  float low, high;
};
inline Pair load_shared_pair(u32 shared) {
  Pair pair;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(pair.low), "=f"(pair.high)
               : "r"(shared)
               : "memory");
  return pair;
}
inline void store_shared_pair(u32 shared, float low, float high) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(shared), "f"(low), "f"(high) : "memory");
}
inline u32 load_shared_word(u32 shared) {
  u32 word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(shared) : "memory");
  return word;
}
inline void store_shared_word(u32 shared, u32 word) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(shared), "r"(word) : "memory");
}
inline void store_shared_element(u32 shared, u16 value) {
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(shared), "h"(value) : "memory");
}
inline void store_shared_element(u32 shared, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(shared), "f"(value) : "memory");
}

// Read-only for the whole kernel. Volatile as every access to memory: the compiler moves asm that
// is not before the branch that guards it, where the address may be misaligned or another's.
inline Chunk load_constant_chunk(const void* global) {
  Chunk c;
  asm volatile("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(c.word[0]), "=r"(c.word[1]), "=r"(c.word[2]), "=r"(c.word[3])
               : "l"(global));
  return c;
}
inline float load_constant(const float* global) {
  float value;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(global));
  return value;
}
// Neighbouring floats that one access moves: 1, 2 or 4.
template <int Count>
struct alignas(4 * Count) Floats {
  float at[Count];
};
// Written by another SM of this launch before a barrier; `otherwise` where `read` is false. The
// predicate saves a branch for each of many loads, and their compile time.
template <int Count>
inline Floats<Count> load_past_l1_if(bool read, const float* global, float otherwise) {
  static_assert(Count == 1 || Count == 2 || Count == 4);
  Floats<Count> value;
#pragma unroll
  for (int i = 0; i < Count; ++i) value.at[i] = otherwise;
  if constexpr (Count == 1) {
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.cg.f32 %0, [%1];}"
                 : "+f"(value.at[0])
                 : "l"(global), "r"(static_cast<u32>(read)));
  } else if constexpr (Count == 2) {
    asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p ld.global.cg.v2.f32 {%0, %1}, [%2];}"
                 : "+f"(value.at[0]), "+f"(value.at[1])
                 : "l"(global), "r"(static_cast<u32>(read)));
  } else {
    asm volatile(
        "{.reg .pred p; setp.ne.u32 p, %5, 0; @p ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];}"
        : "+f"(value.at[0]), "+f"(value.at[1]), "+f"(value.at[2]), "+f"(value.at[3])
        : "l"(global), "r"(static_cast<u32>(read)));
  }
  return value;
}
// Written once and not read again by this kernel: first to leave L2.
inline void store_streaming(void* global, const Chunk& c) {
  asm volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(global),
               "r"(c.word[0]),
               "r"(c.word[1]),
               "r"(c.word[2]),
               "r"(c.word[3])
               : "memory");
}
inline void store_chunk(void* global, const Chunk& c) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(global),
               "r"(c.word[0]),
               "r"(c.word[1]),
               "r"(c.word[2]),
               "r"(c.word[3])
               : "memory");
}

inline u64 atomic_add(u64* global, u64 value) {
  u64 old;
  asm volatile("atom.add.acq_rel.gpu.global.u64 %0, [%1], %2;"
               : "=l"(old)
               : "l"(global), "l"(value)
               : "memory");
  return old;
}
inline void add_release(u32* global, u32 value) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(global), "r"(value) : "memory");
}
inline u32 load_relaxed(const u32* global) {
  u32 value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(global) : "memory");
  return value;
}
inline u32 load_acquire(const u32* global) {
  u32 value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(global) : "memory");
  return value;
}

}  // namespace kiln
