// Element types on the device: storage, exact widening to fp32, one rounding to nearest even on the
// way back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

struct alignas(16) Chunk {  // 16 bytes: the widest access of a thread
  u32 word[4];
};

// Each element type gives: Storage, kBytes, load(Storage) -> float (exact), round(float) ->
// Storage, and the same for a pair packed in a 32-bit word (16-bit types), low half first.
struct f32 {
  using Storage = float;
  static constexpr int kBytes = 4;
  static float load(Storage value) { return value; }
  static Storage round(float value) { return value; }
};

struct f16 {
  using Storage = u16;
  static constexpr int kBytes = 2;
  static float load(Storage value) {
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(value));
    return out;
  }
  static Storage round(float value) {
    Storage out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(value));
    return out;
  }
  static float low(u32 pair) { return load(static_cast<u16>(pair)); }
  static float high(u32 pair) { return load(static_cast<u16>(pair >> 16)); }
  static u32 pack(float low, float high) {
    u32 out;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
  }
};

struct bf16 {
  using Storage = u16;
  static constexpr int kBytes = 2;
  static float load(Storage value) { return __uint_as_float(static_cast<u32>(value) << 16); }
  static Storage round(float value) {
    Storage out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out) : "f"(value));
    return out;
  }
  static float low(u32 pair) { return __uint_as_float(pair << 16); }
  static float high(u32 pair) { return __uint_as_float(pair & 0xffff0000u); }
  static u32 pack(float low, float high) {
    u32 out;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
  }
};

// A role that a configuration leaves out ("no weight").
struct none {
  using Storage = u16;
  static constexpr int kBytes = 0;
};

template <class A, class B>
inline constexpr bool same_type = false;
template <class A>
inline constexpr bool same_type<A, A> = true;

// Eight consecutive elements as they lie in memory: one chunk of a 16-bit type, two of f32.
template <class T>
struct Octet {
  static constexpr int kChunks = T::kBytes / 2;
  Chunk chunk[kChunks];

  float get(int i) const {
    if constexpr (same_type<T, f32>) {
      return __uint_as_float(chunk[i / 4].word[i % 4]);
    } else {
      const u32 pair = chunk[0].word[i / 2];
      return i % 2 == 0 ? T::low(pair) : T::high(pair);
    }
  }
  // Elements i and i + 1, i even.
  void set_pair(int i, float first, float second) {
    if constexpr (same_type<T, f32>) {
      chunk[i / 4].word[i % 4] = __float_as_uint(first);
      chunk[i / 4].word[i % 4 + 1] = __float_as_uint(second);
    } else {
      chunk[0].word[i / 2] = T::pack(first, second);
    }
  }
};

template <>
struct Octet<none> {};

}  // namespace kiln
