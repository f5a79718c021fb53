// Warpgroup matrix multiply: bf16 operands in shared memory, fp32 accumulators in registers.
// sm_90a.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/memory.cuh"

namespace kiln {

// Ordering of a warpgroup's matrix instructions against its registers, and their completion.
inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
// Keeps the compiler from moving uses of accumulators across.
template <int Count>
inline void wgmma_hold(float (&accumulator)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(accumulator[i])::"memory");
}

// Registers of the executing warpgroup's threads, returned or asked for.
template <int Registers>
inline void release_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
inline void acquire_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

// How an operand lies in shared memory: its reduction index runs along the 128-byte rows, or its
// other index does. Both in 128-byte swizzled atoms of 8 rows.
enum class Major { reduction, outer };

// Descriptor of an operand at `shared`. Reduction-major: atoms of 8 outer rows follow one another.
// Outer-major: panels of 64 outer elements, `panel` bytes apart, each of atoms of 8 reduction rows.
template <Major M>
inline u64 wgmma_operand(u32 shared, u32 panel) {
  constexpr u64 kSwizzle128 = 1ull << 62;
  constexpr u64 kAtom = 1024 >> 4;
  const u64 leading = M == Major::reduction ? 1 : panel >> 4;
  return kSwizzle128 | kAtom << 32 | leading << 16 | ((shared >> 4) & 0x3fff);
}
// What a step of 16 along the reduction adds to a descriptor.
template <Major M>
inline constexpr u64 kWgmmaStep = (M == Major::reduction ? 32 : 2048) >> 4;

// The operand lists of 32 to 128 accumulators.
#define KILN_WGMMA_LIST_32                   \
  "%0, %1, %2, %3, %4, %5, %6, %7, "         \
  "%8, %9, %10, %11, %12, %13, %14, %15, "   \
  "%16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define KILN_WGMMA_LIST_64                   \
  KILN_WGMMA_LIST_32                         \
  ", "                                       \
  "%32, %33, %34, %35, %36, %37, %38, %39, " \
  "%40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, " \
  "%56, %57, %58, %59, %60, %61, %62, %63"
#define KILN_WGMMA_LIST_96                   \
  KILN_WGMMA_LIST_64                         \
  ", "                                       \
  "%64, %65, %66, %67, %68, %69, %70, %71, " \
  "%72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, " \
  "%88, %89, %90, %91, %92, %93, %94, %95"
#define KILN_WGMMA_LIST_128                          \
  KILN_WGMMA_LIST_96                                 \
  ", "                                               \
  "%96, %97, %98, %99, %100, %101, %102, %103, "     \
  "%104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, " \
  "%120, %121, %122, %123, %124, %125, %126, %127"
#define KILN_WGMMA_8(d, i)                                                                    \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define KILN_WGMMA_32(d, i) \
  KILN_WGMMA_8(d, i), KILN_WGMMA_8(d, i + 8), KILN_WGMMA_8(d, i + 16), KILN_WGMMA_8(d, i + 24)

// d (64 x Columns) += a (64 x 16) b (16 x Columns). Thread t of the warpgroup holds, of row
// 16 (t / 32) + t % 32 / 4 (+ 8), columns 8 j + 2 (t % 4) and the next: d[4 j], d[4 j + 1] (row +
// 8: d[4 j + 2], d[4 j + 3]).
template <int Columns, Major A, Major B>
struct Wgmma;

template <Major A, Major B>
struct Wgmma<64, A, B> {
  static void issue(float (&d)[32], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" KILN_WGMMA_LIST_32
                 "}, %32, %33, 1, 1, 1, %34, %35;"
                 : KILN_WGMMA_32(d, 0)
                 : "l"(a), "l"(b), "n"(A == Major::outer), "n"(B == Major::outer));
  }
};

template <Major A, Major B>
struct Wgmma<128, A, B> {
  static void issue(float (&d)[64], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" KILN_WGMMA_LIST_64
                 "}, %64, %65, 1, 1, 1, %66, %67;"
                 : KILN_WGMMA_32(d, 0), KILN_WGMMA_32(d, 32)
                 : "l"(a), "l"(b), "n"(A == Major::outer), "n"(B == Major::outer));
  }
};

template <Major A, Major B>
struct Wgmma<192, A, B> {
  static void issue(float (&d)[96], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {" KILN_WGMMA_LIST_96
                 "}, %96, %97, 1, 1, 1, %98, %99;"
                 : KILN_WGMMA_32(d, 0), KILN_WGMMA_32(d, 32), KILN_WGMMA_32(d, 64)
                 : "l"(a), "l"(b), "n"(A == Major::outer), "n"(B == Major::outer));
  }
};

template <Major A, Major B>
struct Wgmma<256, A, B> {
  static void issue(float (&d)[128], u64 a, u64 b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" KILN_WGMMA_LIST_128
        "}, %128, %129, 1, 1, 1, %130, %131;"
        : KILN_WGMMA_32(d, 0), KILN_WGMMA_32(d, 32), KILN_WGMMA_32(d, 64), KILN_WGMMA_32(d, 96)
        : "l"(a), "l"(b), "n"(A == Major::outer), "n"(B == Major::outer));
  }
};

#undef KILN_WGMMA_LIST_32
#undef KILN_WGMMA_LIST_64
#undef KILN_WGMMA_LIST_96
#undef KILN_WGMMA_LIST_128
#undef KILN_WGMMA_8
#undef KILN_WGMMA_32

}  // namespace kiln
