// The portable route: tensor cores by mma.sync and copies by cp.async, for every architecture from
// sm_80 up. The reduction steps through k in the Hopper kernel's order, 16 at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/grouped_gemm/element_store.cuh"
#include "kernels/grouped_gemm/parameters.hpp"
#include "kernels/grouped_gemm/portable_layout.hpp"
#include "templates/matrix.cuh"
#include "templates/memory.cuh"

namespace kiln::grouped_gemm {

template <Op kOp, class Out>
struct Portable {
  // In shared memory, a tile of an operand is 128 outer elements by 32 of the reduction. Along the
  // reduction: 128 rows of 64 bytes. Along the outer index: 32 rows of 256 bytes. The 16-byte units
  // of a row are exchanged so that ldmatrix meets no bank twice.
  static constexpr bool kAOuter = kOp == Op::wgrad;
  static constexpr bool kBOuter = kOp != Op::forward;
  static constexpr int kRows = kPortableTile, kColumns = kPortableTile, kDepth = kPortableDepth;
  static constexpr int kStages = kPortableStages, kThreads = kPortableThreads;
  static constexpr u32 kOperandBytes = kRows * kDepth * 2;

  const PortableParameters& p;
  u32 smem;
  u32 lane;
  u32 warp;

  // The tile in hand.
  i64 first = 0;  // of the group's rows
  int rows = 0;   // of the group
  int group = 0;
  i64 row = 0;     // within the output: forward and dgrad: of the group; wgrad: of n
  i64 column = 0;  // of the output

  i64 out_rows() const { return kOp == Op::wgrad ? p.n : rows; }
  i64 out_columns() const { return kOp == Op::forward ? p.n : p.k; }
  i64 depth() const { return kOp == Op::forward ? p.k : kOp == Op::dgrad ? p.n : rows; }

  static u32 unit_at(bool outer, u32 line, u32 unit) {
    return outer ? line * 256 + ((unit ^ (line & 7)) << 4)
                 : line * 64 + ((unit ^ ((line >> 1) & 3)) << 4);
  }

  // ---- loads: whole 16-byte units are inside the matrices or outside
  // -------------------------------

  template <bool kOuter>
  void load_operand(u32 to,
                    const void* base,
                    i64 stride,
                    i64 outer,
                    i64 outer_end,
                    i64 step,
                    i64 step_end) const {
    const auto* elements = static_cast<const u16*>(base);
#pragma unroll
    for (int i = 0; i < kRows * kDepth / 8 / kThreads; ++i) {
      const u32 at = i * kThreads + threadIdx.x;
      const u32 line = kOuter ? at / 16 : at / 4, unit = kOuter ? at % 16 : at % 4;
      const i64 down = (kOuter ? step : outer) + line;
      const i64 across = (kOuter ? outer : step) + unit * 8;
      const bool valid =
          kOuter ? down < step_end && across < outer_end : down < outer_end && across < step_end;
      copy_async_16_or_zero(to + unit_at(kOuter, line, unit),
                            valid ? elements + down * stride + across : elements,
                            valid);
    }
  }
  void load_step(int stage, i64 step) const {
    const u32 a = smem + stage * 2 * kOperandBytes, b = a + kOperandBytes;
    const auto* x = static_cast<const u16*>(p.a);
    const auto* w = static_cast<const u16*>(p.b);
    if constexpr (kOp == Op::wgrad) {
      load_operand<true>(a, x + first * p.a_stride, p.a_stride, row, p.n, step, rows);
      load_operand<true>(b, w + first * p.b_stride, p.b_stride, column, p.k, step, rows);
    } else {
      load_operand<false>(a, x + first * p.a_stride, p.a_stride, row, rows, step, depth());
      load_operand<kBOuter>(
          b, w + group * p.w_group_stride, p.b_stride, column, out_columns(), step, depth());
    }
    copy_async_commit();
  }

  // ---- arithmetic: four warps, 64 x 64 of the tile each
  // --------------------------------------------

  u32 warp_row() const { return warp / 2 * 64; }
  u32 warp_column() const { return warp % 2 * 64; }

  void load_a(u32 (&to)[4], u32 a, u32 m, u32 k) const {
    const u32 id = lane / 8;
    if constexpr (kAOuter) {
      load_matrix_4_transposed(to, a + unit_at(true, k + lane % 8 + id / 2 * 8, m / 8 + id % 2));
    } else {
      load_matrix_4(to, a + unit_at(false, m + lane % 16, k / 8 + lane / 16));
    }
  }
  // Two blocks of 8 columns: to[0], to[1] and to[2], to[3].
  void load_b(u32 (&to)[4], u32 b, u32 n, u32 k) const {
    const u32 id = lane / 8;
    if constexpr (kBOuter) {
      load_matrix_4_transposed(to, b + unit_at(true, k + lane % 8 + id % 2 * 8, n / 8 + id / 2));
    } else {
      load_matrix_4(to, b + unit_at(false, n + lane % 8 + id / 2 * 8, k / 8 + id % 2));
    }
  }
  void multiply_step(float (&d)[4][8][4], int stage) const {
    const u32 a = smem + stage * 2 * kOperandBytes, b = a + kOperandBytes;
#pragma unroll
    for (u32 k = 0; k < kDepth; k += 16) {
      u32 of_a[4][4], of_b[4][4];
#pragma unroll
      for (u32 i = 0; i < 4; ++i) load_a(of_a[i], a, warp_row() + i * 16, k);
#pragma unroll
      for (u32 j = 0; j < 4; ++j) load_b(of_b[j], b, warp_column() + j * 16, k);
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
#pragma unroll
        for (u32 j = 0; j < 8; ++j)
          multiply_bf16(d[i][j], of_a[i], of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }

  // ---- the epilogue: a warp's 16 rows of 64 columns of fp32 at a time through shared memory
  // ----------

  void store(const float (&d)[4][8][4]) const {
    constexpr int kWide = 16 / Out::kBytes;
    const u32 at = smem + warp * 4096;
    auto* out = static_cast<typename Out::Storage*>(p.output) + column + warp_column();
    if constexpr (kOp == Op::wgrad) out += group * p.output_group_stride;
    const i64 base = kOp == Op::wgrad ? 0 : first;
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      __syncwarp();
#pragma unroll
      for (u32 j = 0; j < 8; ++j) {
        const u32 line = lane / 4, unit = j * 2 + lane % 4 / 2, half = lane % 2 * 8;
        store_shared_pair(at + line * 256 + ((unit ^ line) << 4) + half, d[i][j][0], d[i][j][1]);
        store_shared_pair(
            at + (line + 8) * 256 + ((unit ^ line) << 4) + half, d[i][j][2], d[i][j][3]);
      }
      __syncwarp();
#pragma unroll 1
      for (u32 c = lane; c < 16 * 64 / kWide; c += 32) {
        const u32 line = c / (64 / kWide), across = c % (64 / kWide) * kWide;
        const i64 out_row = row + warp_row() + i * 16 + line;
        if (out_row >= out_rows() || column + warp_column() + across >= out_columns()) continue;
        Chunk chunk = load_shared(at + line * 256 + ((across / 4 ^ (line & 7)) << 4));
        if constexpr (Out::kBytes == 2) {
          const Chunk next = load_shared(at + line * 256 + (((across / 4 + 1) ^ (line & 7)) << 4));
          chunk = {packed(chunk, 0), packed(chunk, 2), packed(next, 0), packed(next, 2)};
        }
        auto* to = out + (base + out_row) * p.output_stride + across;
        if (p.accumulate != 0) {
          store_elements<Out, true>(to, chunk, p.output_vector != 0);
        } else {
          store_elements<Out, false>(to, chunk, p.output_vector != 0);
        }
      }
    }
  }
  static u32 packed(const Chunk& c, int i) {
    return Out::pack(__uint_as_float(c.word[i]), __uint_as_float(c.word[i + 1]));
  }

  void compute() const {
    float d[4][8][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) d[i][j][e] = 0;
      }
    }
    const i64 steps = (depth() + kDepth - 1) / kDepth;
#pragma unroll
    for (int i = 0; i < kStages - 1; ++i) {
      if (i < steps) {
        load_step(i, i64{i} * kDepth);
      } else {
        copy_async_commit();
      }
    }
    int stage = 0;
#pragma unroll 1
    for (i64 step = 0; step < steps; ++step) {
      copy_async_wait<kStages - 2>();
      __syncthreads();
      const int next = stage == 0 ? kStages - 1 : stage - 1;
      if (step + kStages - 1 < steps) {
        load_step(next, (step + kStages - 1) * kDepth);
      } else {
        copy_async_commit();
      }
      multiply_step(d, stage);
      if (++stage == kStages) stage = 0;
    }
    copy_async_wait<0>();
    __syncthreads();  // the epilogue writes over the stages
    store(d);
    __syncthreads();
  }

  // Items in order, a fixed share a CTA; offsets out of order or past the end never lead outside.
  int clamped_end(int index) const {
    if (index < 0) return 0;
    const i64 end = p.ends[index];
    return static_cast<int>(end < 0 ? 0 : end > p.rows ? p.rows : end);
  }
  void run() {
    const i64 across = (out_columns() + kColumns - 1) / kColumns;
    i64 before = 0;
    i64 item = blockIdx.x;
    for (group = 0; group < p.groups; ++group) {
      first = clamped_end(group - 1);
      rows = clamped_end(group) - static_cast<int>(first);
      if (rows < 0) rows = 0;
      const i64 items = (out_rows() + kRows - 1) / kRows * across;
      for (; item < before + items; item += gridDim.x) {
        row = (item - before) / across * kRows;
        column = (item - before) % across * kColumns;
        compute();
      }
      before += items;
    }
  }
};

template <Op kOp, class Out>
inline void portable(const PortableParameters& p) {
  extern __shared__ __align__(128) unsigned char memory[];
  Portable<kOp, Out> kernel{p, shared_address(memory), threadIdx.x % 32, threadIdx.x / 32};
  kernel.run();
}

}  // namespace kiln::grouped_gemm
