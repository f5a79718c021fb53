// The one order of every sum: a function of the row count and the width alone. Shared by host and
// device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::mix_order_reduction {

// ROW SUM over n columns. Columns form panels of kMaxLanes * kVector; in a panel, virtual lane l
// owns the kVector columns from l * kVector. A lane adds its columns in ascending order, panel
// after panel, starting from +0, by fma of the two factors. Lanes are then added by the
// adjacent-first binary tree over lanes(n); lanes without columns are +0.
//
// COLUMN SUM over the rows. Rows form tiles of tile_rows(n), and tile t belongs to row block t mod
// row_blocks(rows, n), so that blocks advance through memory side by side. The rows of a block, in
// ascending order, are dealt to chains(n) chains in turn; a chain adds its rows in order, starting
// from +0, by fma. Chains are added in order, blocks in order within groups of kBlockGroup, groups
// in order; each of these sums starts from +0.
inline constexpr int kVector = 8;
inline constexpr int kMaxLanes = 1024;
inline constexpr int kBlockGroup = 12;
inline constexpr int kMaxRowBlocks =
    528;  // 4 times the 132 SMs of an H100 or H200; a constant of the order, not a query
inline constexpr int kMinRowsPerChain = 4;

constexpr long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }

constexpr long long pow2_ceil(long long value) {
  long long out = 1;
  while (out < value) out *= 2;
  return out;
}

constexpr int lanes(long long n) {
  const long long used = pow2_ceil(ceil_div(n, kVector));
  return used < kMaxLanes ? static_cast<int>(used) : kMaxLanes;
}

constexpr long long panels(long long n) {
  return ceil_div(n, static_cast<long long>(kMaxLanes) * kVector);
}

// As many chains as 256 threads can keep apart when a warp, or a part of one, owns a row; one where
// a CTA owns it.
constexpr int chains(long long n) {
  const int width = lanes(n);
  return width >= 256 ? 1 : width >= 32 ? 8 : 256 / width;
}

// The most blocks: enough CTAs to fill a GPU, few enough that their partial sums stay small beside
// the data.
constexpr int max_row_blocks(long long n) {
  const long long width = pow2_ceil(n);
  if (width <= 2048) return kMaxRowBlocks;
  if (width <= 4096) return kMaxRowBlocks / 2;
  if (width <= 16384) return kMaxRowBlocks / 4;
  if (width <= 32768) return kMaxRowBlocks / 8;
  if (width <= 65536) return 32;  // clusters of four: 32 of them fit 132 SMs, 33 do not
  const long long blocks = kMaxRowBlocks / 4 * 16384LL / width;
  return blocks < 8 ? 8 : static_cast<int>(blocks);
}

constexpr int row_blocks(long long rows, long long n) {
  const long long wanted = rows / (static_cast<long long>(kMinRowsPerChain) * chains(n));
  const int most = max_row_blocks(n);
  return wanted < 1 ? 1 : wanted < most ? static_cast<int>(wanted) : most;
}

// Neighbouring rows that one block takes together: one a chain. Measured against 2 and 4 (16384 x
// 4096 and wider, H200): up to 6% faster.
constexpr int tile_rows(long long n) { return chains(n); }

// How rows fall to blocks. Made on the host: 64-bit divisions cost a kernel its start and its
// compile.
struct RowSplit {
  int blocks;
  int extra;        // the first `extra` blocks have one tile more
  long long tiles;  // whole tiles of every block
  int rest;         // rows after the last whole tile; they belong to block `extra`
};
constexpr RowSplit split_rows(long long rows, long long n) {
  const int tile = tile_rows(n), blocks = row_blocks(rows, n);
  const long long whole = rows / tile;
  return {blocks, static_cast<int>(whole % blocks), whole / blocks, static_cast<int>(rows % tile)};
}

// Over `most` blocks, or one for each tile where there are fewer: for a launch without column sums,
// whose bits do not depend on it.
constexpr RowSplit spread_rows(long long rows, long long n, int most) {
  const int tile = tile_rows(n);
  const long long tiles = ceil_div(rows, tile);
  const int blocks = tiles < 1 ? 1 : tiles < most ? static_cast<int>(tiles) : most;
  const long long whole = rows / tile;
  return {blocks, static_cast<int>(whole % blocks), whole / blocks, static_cast<int>(rows % tile)};
}

// How many rows block `block` has, and which row of the matrix its i-th is.
constexpr long long block_rows(const RowSplit& split, int tile, int block) {
  return (split.tiles + (block < split.extra ? 1 : 0)) * tile +
         (block == split.extra ? split.rest : 0);
}
template <class Index>
constexpr Index block_row(const RowSplit& split, int tile, int block, Index i) {
  return (i / tile * split.blocks + block) * tile + i % tile;
}

}  // namespace kiln::mix_order_reduction
