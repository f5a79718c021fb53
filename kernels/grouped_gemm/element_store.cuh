// Sixteen bytes of output to memory, overwriting or adding, aligned or not: the last step of both
// routes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/memory.cuh"
#include "templates/types.cuh"

namespace kiln::grouped_gemm {

// Two packed 16-bit elements, each added in fp32 and rounded once.
template <class Out>
inline u32 add_pairs(u32 a, u32 b) {
  return Out::pack(Out::low(a) + Out::low(b), Out::high(a) + Out::high(b));
}

template <class Out>
inline Chunk add_chunks(const Chunk& a, const Chunk& b) {
  Chunk c;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (Out::kBytes == 4) {
      c.word[i] = __float_as_uint(__uint_as_float(a.word[i]) + __uint_as_float(b.word[i]));
    } else {
      c.word[i] = add_pairs<Out>(a.word[i], b.word[i]);
    }
  }
  return c;
}

template <class Out>
inline typename Out::Storage element_of(const Chunk& c, int i) {
  if constexpr (Out::kBytes == 4) {
    return __uint_as_float(c.word[i]);
  } else {
    return static_cast<u16>(c.word[i / 2] >> (i % 2 * 16));
  }
}

template <class Out, bool kAdd>
inline void store_elements(typename Out::Storage* to, const Chunk& c, bool aligned) {
  if (aligned) {
    if constexpr (kAdd) {
      store_chunk(to, add_chunks<Out>(*reinterpret_cast<const Chunk*>(to), c));
    } else {
      store_chunk(to, c);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 16 / Out::kBytes; ++i) {
    const typename Out::Storage value = element_of<Out>(c, i);
    if constexpr (kAdd) {
      to[i] = Out::round(Out::load(to[i]) + Out::load(value));
    } else {
      to[i] = value;
    }
  }
}

}  // namespace kiln::grouped_gemm
