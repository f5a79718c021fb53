// Moving a row's columns between global memory, shared memory and a thread's registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/layout.hpp"
#include "templates/cluster.cuh"
#include "templates/memory.cuh"

namespace kiln::mix_order_reduction {

// Which columns a thread owns. Group: threads that share a row. Lanes of one `part` (up to 32
// threads) are neighbours.
template <class C>
struct Columns {
  static constexpr Geometry kGeometry = C::geometry;
  static constexpr i64 kN = kGeometry.n;
  static constexpr int kOctets = octets(kGeometry);
  static constexpr int kLanesPerThread = lanes_per_thread(kGeometry);
  static constexpr int kGroupThreads = group_threads(kGeometry);
  static constexpr int kPartThreads = part_threads(kGeometry);
  static constexpr bool kWhole = kN % kVector == 0;
  // Every row starts on 16 bytes and ends there: the kernel has no narrow path.
  static constexpr bool kVectorOnly = kWhole && !C::takes_any_alignment;
  // Every thread owns kOctets full octets.
  static constexpr bool kExact =
      kWhole && static_cast<i64>(kOctets) * kGroupThreads * kVector * kGeometry.cluster_ctas == kN;
  // Few octets lie past the row: with kept inputs they are computed like the others, from whatever
  // their buffer holds, and written nowhere. A branch around them would keep passes from sharing
  // what they compute.
  static constexpr bool kComputesAll =
      kWhole && C::keep_inputs && kOctets < 4 &&
      static_cast<i64>(kOctets) * kGroupThreads * kVector * kGeometry.cluster_ctas * 7 <= kN * 8;

  // The first lane of this CTA in every panel.
  static int first_lane() {
    if constexpr (kGeometry.cluster_ctas == 1) return 0;
    return static_cast<int>(cluster_rank()) * kLanesPerThread * kGroupThreads;
  }
  static int part_lane() { return threadIdx.x % kPartThreads; }
  // This thread writes what there is one of a row of its group.
  static bool leads_row() { return threadIdx.x % kGroupThreads == 0 && first_lane() == 0; }
  // The first column of this thread's part in octet v.
  static i64 part_column(int v) {
    const int lane = first_lane() + (threadIdx.x % kGroupThreads) / kPartThreads * kPartThreads;
    return octet_distance(v) + static_cast<i64>(lane) * kVector;
  }
  static i64 column(int v) { return part_column(v) + part_lane() * kVector; }
  // From octet 0 to octet v.
  static constexpr i64 octet_distance(int v) {
    return (static_cast<i64>(v / kLanesPerThread) * kMaxLanes +
            static_cast<i64>(v % kLanesPerThread) * kGroupThreads) *
           kVector;
  }
  static bool owns(int v) { return kExact || column(v) < kN; }
  static bool computes(int v) { return kComputesAll || owns(v); }
  // Elements of octet v that exist.
  static int count(int v) {
    if constexpr (kWhole) return kVector;
    const i64 left = kN - column(v);
    return left < kVector ? static_cast<int>(left) : kVector;
  }
};

// Narrow paths, for rows that do not start on 16 bytes and for the last columns of an odd width:
// rolled loops over elements, out of line, because they would be most of the kernel's code and of
// its compile time.

template <class T>
__noinline__ void copy_elements(u32 shared, const char* from, int count) {
  const auto* elements = reinterpret_cast<const typename T::Storage*>(from);
#pragma unroll 1
  for (int i = 0; i < count; ++i) store_shared_element(shared + i * T::kBytes, elements[i]);
}

// Elements past `count` are zero. The chunk is shifted up by one element at a time, since registers
// have no index.
template <class T>
__noinline__ Chunk gather_chunk(const typename T::Storage* elements, int count) {
  constexpr int kElements = 16 / T::kBytes;
  Chunk c{};
#pragma unroll 1
  for (int i = kElements - 1; i >= 0; --i) {
    const auto value = i < count ? elements[i] : typename T::Storage{};
    if constexpr (T::kBytes == 4) {
      c = {{__float_as_uint(value), c.word[0], c.word[1], c.word[2]}};
    } else {
      c = {{c.word[0] << 16 | value,
            __funnelshift_l(c.word[0], c.word[1], 16),
            __funnelshift_l(c.word[1], c.word[2], 16),
            __funnelshift_l(c.word[2], c.word[3], 16)}};
    }
  }
  return c;
}

template <class T>
__noinline__ void scatter_chunk(typename T::Storage* elements, Chunk c, int count) {
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    if constexpr (T::kBytes == 4) {
      elements[i] = __uint_as_float(c.word[0]);
      c = {{c.word[1], c.word[2], c.word[3], 0}};
    } else {
      elements[i] = static_cast<u16>(c.word[0]);
      c = {{__funnelshift_r(c.word[0], c.word[1], 16),
            __funnelshift_r(c.word[1], c.word[2], 16),
            __funnelshift_r(c.word[2], c.word[3], 16),
            c.word[3] >> 16}};
    }
  }
}

// Elements of a chunk that lie before column n.
template <class T>
inline int chunk_count(i64 column, i64 n) {
  constexpr int kElements = 16 / T::kBytes;
  return column + kElements <= n ? kElements : column < n ? static_cast<int>(n - column) : 0;
}

// This thread's share of one row goes into its part's slot in chunks; copy(shared address, column)
// moves one. With 32-bit elements the chunks of a part are dealt out so that neighbours copy
// neighbouring 16 bytes; the reader then needs
// __syncwarp.
template <class C, class T, class Copy>
inline void for_chunk(int v, int c, u32 slot, Copy copy) {
  using Owned = Columns<C>;
  constexpr int kChunks = Octet<T>::kChunks;
  const int chunk = c * Owned::kPartThreads + Owned::part_lane();
  const i64 column = Owned::part_column(v) + chunk * (16 / T::kBytes);
  if (Owned::kExact || column < Owned::kN) {
    copy(slot + v * (C::geometry.threads * 16 * kChunks) + chunk * 16, column);
  }
}

// The column of the first chunk that this thread copies of a row.
template <class C, class T>
inline i64 first_copied() {
  return Columns<C>::part_column(0) + Columns<C>::part_lane() * (16 / T::kBytes);
}

// Starts copying a row that begins on 16 bytes; `mine` is the first chunk that this thread copies.
template <class C, class T>
inline void start_row(const char* mine, u32 slot) {
  using Owned = Columns<C>;
#pragma unroll
  for (int v = 0; v < Columns<C>::kOctets; ++v) {
#pragma unroll
    for (int c = 0; c < Octet<T>::kChunks; ++c) {
      for_chunk<C, T>(v, c, slot, [&](u32 to, i64 column) {
        const char* from =
            mine + Owned::octet_distance(v) * T::kBytes + c * (16 * Owned::kPartThreads);
        if (Owned::kWhole || column + 16 / T::kBytes <= C::geometry.n) {
          copy_async_16(to, from);
        } else {
          copy_elements<T>(to, from, chunk_count<T>(column, C::geometry.n));
        }
      });
    }
  }
}

// Copies a row of any alignment; done when it returns.
template <class C, class T>
inline void copy_row(const char* mine, u32 slot) {
  const char* row = mine - first_copied<C, T>() * T::kBytes;
#pragma unroll 1
  for (int i = 0; i < Columns<C>::kOctets * Octet<T>::kChunks; ++i) {
    for_chunk<C, T>(i / Octet<T>::kChunks, i % Octet<T>::kChunks, slot, [&](u32 to, i64 column) {
      copy_elements<T>(to, row + column * T::kBytes, chunk_count<T>(column, C::geometry.n));
    });
  }
}

// This thread's octet v of a row in shared memory.
template <class C, class T>
inline Octet<T> read_octet(u32 slot, int v) {
  constexpr int kChunks = Octet<T>::kChunks;
  const u32 from =
      slot + v * (C::geometry.threads * 16 * kChunks) + Columns<C>::part_lane() * (16 * kChunks);
  Octet<T> out;
#pragma unroll
  for (int c = 0; c < kChunks; ++c) out.chunk[c] = load_shared(from + c * 16);
  return out;
}

// This thread's octet v of a row vector in global memory.
template <class C, class T>
inline Octet<T> load_vector_octet(const void* vector, int v, bool vector_access) {
  using Owned = Columns<C>;
  constexpr int kChunkColumns = 16 / T::kBytes;
  const auto* elements = static_cast<const typename T::Storage*>(vector);
  Octet<T> out{};
#pragma unroll
  for (int c = 0; c < Octet<T>::kChunks; ++c) {
    const i64 column = Owned::column(v) + c * kChunkColumns;
    if (!Owned::kExact && column >= Owned::kN) continue;
    if (Owned::kVectorOnly ||
        (vector_access && (Owned::kWhole || column + kChunkColumns <= Owned::kN))) {
      out.chunk[c] = load_constant_chunk(elements + column);
    } else {
      out.chunk[c] = gather_chunk<T>(elements + column, chunk_count<T>(column, Owned::kN));
    }
  }
  return out;
}

// `mine` is where this thread's octet 0 of the row goes.
template <class C, class T>
inline void store_octet(char* mine, int v, const Octet<T>& octet, bool vector_access) {
  using Owned = Columns<C>;
  constexpr int kChunkColumns = 16 / T::kBytes;
  auto* elements = reinterpret_cast<typename T::Storage*>(mine) + Owned::octet_distance(v);
  if (Owned::kVectorOnly || (vector_access && Owned::count(v) == kVector)) {
#pragma unroll
    for (int c = 0; c < Octet<T>::kChunks; ++c) {
      store_streaming(elements + c * kChunkColumns, octet.chunk[c]);
    }
  } else {
#pragma unroll
    for (int c = 0; c < Octet<T>::kChunks; ++c) {
      const i64 column = Owned::column(v) + c * kChunkColumns;
      scatter_chunk<T>(
          elements + c * kChunkColumns, octet.chunk[c], chunk_count<T>(column, Owned::kN));
    }
  }
}

}  // namespace kiln::mix_order_reduction
