// Matrices of 8 x 8 16-bit elements between registers and shared memory, and the tensor cores of
// every architecture from sm_80 up.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/memory.cuh"

namespace kiln {

// Four matrices from registers; lane l gives the address of row l % 8 of matrix l / 8. sm_90 and
// up.
inline void store_matrix_4(u32 shared, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared),
               "r"(a),
               "r"(b),
               "r"(c),
               "r"(d)
               : "memory");
}
// Four matrices to registers, likewise.
inline void load_matrix_4(u32 (&to)[4], u32 shared) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared)
               : "memory");
}
// Transposed on the way.
inline void load_matrix_4_transposed(u32 (&to)[4], u32 shared) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared)
               : "memory");
}

// d (16 x 8) += a (16 x 16) b (16 x 8). Lane l holds, of d, row l / 4 (d[0], d[1]) and row l / 4 +
// 8, columns 2 (l % 4) and the next.
inline void multiply_bf16(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace kiln
