// Shared memory and thread geometry of the fused kernel: computed once, by the planner and by the
// device code alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/order.hpp"

namespace kiln::mix_order_reduction {

// What the planner chooses; everything else follows.
struct Geometry {
  long long n = 1;
  int element_bytes = 2;     // of x, dy, residual, dx
  int inputs = 2;            // matrices read a row
  int row_sums = 1;          // sums over a row
  int threads = 256;         // a CTA, a multiple of 32
  int lanes_per_thread = 1;  // a CTA a row: virtual lanes a thread owns in one panel
  int rows_per_step = 1;     // rows a group of threads handles between two barriers; a power of two
  int stages = 1;            // buffers of one step's inputs
  int cluster_ctas = 1;      // CTAs that share a row, each with a range of the lanes of every panel
};

// One row belongs to the whole CTA where it has 256 lanes or more, else to a warp or a part of one.
constexpr bool cta_row(long long n) { return lanes(n) >= 256; }

constexpr int group_threads(const Geometry& g) {
  return cta_row(g.n) ? g.threads : (lanes(g.n) < 32 ? lanes(g.n) : 32);
}

constexpr int lanes_per_thread(const Geometry& g) {
  return cta_row(g.n) ? g.lanes_per_thread : static_cast<int>(ceil_div(lanes(g.n), 32));
}

// Vectors of kVector columns a thread owns in a row.
constexpr int octets(const Geometry& g) {
  return lanes_per_thread(g) * static_cast<int>(panels(g.n));
}

// The threads of a group in one warp.
constexpr int part_threads(const Geometry& g) {
  return group_threads(g) < 32 ? group_threads(g) : 32;
}

constexpr long long stage_bytes(const Geometry& g) {
  return static_cast<long long>(g.rows_per_step) * g.inputs * octets(g) * kVector *
         g.element_bytes * g.threads;
}
// Sums of 32-lane groups, double buffered so that one barrier a step is enough. In a cluster room
// for two rows at least: two rows in one buffer then take what one row in two does, so that a
// little less shared memory never brings a stage more.
constexpr long long row_sum_bytes(const Geometry& g) {
  const int rows = g.cluster_ctas > 1 && g.rows_per_step < 2 ? 2 : g.rows_per_step;
  return cta_row(g.n) ? 2LL * rows * g.row_sums * (lanes(g.n) / 32) * 4 : 0;
}
// And, in a cluster, the barriers of both buffers.
constexpr long long reduction_bytes(const Geometry& g) {
  return row_sum_bytes(g) + (g.cluster_ctas > 1 ? 16 : 0);
}

// Where a CTA owns a row, a warp stores its columns' partial sums by two instructions, each thread
// 16 bytes by either. So that each writes 512 contiguous bytes, a run of 256 columns lies in the
// workspace as the first halves of its 32 octets, then the second halves. On an H200 halves left
// where they are, 16 bytes of every 32, took 3 us more of 36 (LayerNorm backward, 2048 x 8192).
inline constexpr int kPartialRun = 32 * kVector;
static_assert(kPartialRun == 256 && kVector == 8,
              "bits of a place: run, half, octet (5), element (2)");
constexpr int partial_place(long long n, int column) {
  if (!cta_row(n)) return column;
  return (column & ~255) | (column & 4) << 5 | (column & 0xf8) >> 1 | (column & 3);
}
// The column whose partial sums lie there: n or more where there is none.
constexpr int partial_column(long long n, int place) {
  if (!cta_row(n)) return place;
  return (place & ~255) | (place & 0x7c) << 1 | (place >> 5 & 4) | (place & 3);
}

// Floats between two rows of the partial sums: whole vectors, or whole runs.
constexpr long long partial_stride(long long n) {
  const int unit = cta_row(n) ? kPartialRun : kVector;
  return ceil_div(n, unit) * unit;
}

// Chains of one block meet in shared memory, over the drained stage buffers.
constexpr long long chain_bytes(const Geometry& g) {
  return chains(g.n) > 1 ? chains(g.n) * partial_stride(g.n) * 4 : 0;
}

// Finishing: a float for each block group of each column of a slice, over the stage buffers too.
inline constexpr int kFinishFloats = kMaxRowBlocks / kBlockGroup * 64;

// Columns of a slice, as a power of two: a CTA's even share, as far as the scratch holds it for all
// column sums.
constexpr int finish_shift(long long n, int row_blocks, int ctas, int column_sums) {
  const long long groups = ceil_div(row_blocks, kBlockGroup) * column_sums;
  int shift = 3;
  while ((1LL << shift) * ctas < partial_stride(n) && (2LL << shift) * groups <= kFinishFloats)
    ++shift;
  return shift;
}

constexpr long long smem_bytes(const Geometry& g) {
  long long buffers = g.stages * stage_bytes(g);
  if (buffers < chain_bytes(g)) buffers = chain_bytes(g);
  if (buffers < kFinishFloats * 4) buffers = kFinishFloats * 4;
  return buffers + reduction_bytes(g);
}

constexpr long long workspace_bytes(long long n) {
  return max_row_blocks(n) * partial_stride(n) * 4;
}

}  // namespace kiln::mix_order_reduction
