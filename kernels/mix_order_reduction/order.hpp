// The one order of every sum: a function of the row count and the width alone. Shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::mix_order_reduction {

// ROW SUM over n columns. Columns form panels of kMaxLanes * kVector; in a panel, virtual lane l owns the kVector
// columns from l * kVector. A lane adds its columns in ascending order, panel after panel, starting from +0, by fma of
// the two factors. Lanes are then added by the adjacent-first binary tree over lanes(n); lanes without columns are +0.
//
// COLUMN SUM over the rows. Rows form row_blocks(rows, n) contiguous blocks; in a block, chain j of chains(n) takes the
// rows j, j + chains, ... of the block in ascending order, starting from +0, by fma. Chains are added in order from
// chain 0; blocks in order within groups of kBlockGroup; groups in order.
inline constexpr int kVector = 8;
inline constexpr int kMaxLanes = 1024;
inline constexpr int kBlockGroup = 16;
inline constexpr int kMaxRowBlocks = 512;
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

constexpr long long panels(long long n) { return ceil_div(n, static_cast<long long>(kMaxLanes) * kVector); }

// As many chains as 256 threads can keep apart when a warp, or a part of one, owns a row; one where a CTA owns it.
constexpr int chains(long long n) {
  const int width = lanes(n);
  return width >= 256 ? 1 : width >= 32 ? 8 : 256 / width;
}

// The most blocks: enough CTAs to fill a GPU, few enough that their partial sums stay small beside the data.
constexpr int max_row_blocks(long long n) {
  const long long width = pow2_ceil(n);
  if (width <= 2048) return kMaxRowBlocks;
  if (width <= 4096) return 256;
  if (width <= 16384) return 128;
  const long long blocks = (1LL << 21) / width;
  return blocks < 8 ? 8 : static_cast<int>(blocks);
}

constexpr int row_blocks(long long rows, long long n) {
  const long long wanted = rows / (static_cast<long long>(kMinRowsPerChain) * chains(n));
  const int most = max_row_blocks(n);
  int blocks = 1;
  while (blocks < most && blocks * 2 <= wanted) blocks *= 2;
  return blocks;
}

// The first row of a block; rows < 2^31 and blocks <= 512, so the product fits.
constexpr long long block_begin(long long rows, int blocks, int block) { return rows * block / blocks; }

}  // namespace kiln::mix_order_reduction
