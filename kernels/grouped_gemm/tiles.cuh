// Which tile comes next: items in order, from the group sizes alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/grouped_gemm/layout.hpp"
#include "templates/types.cuh"

namespace kiln::grouped_gemm {

// What the CTAs of a cluster share of their tiles: nothing, the b operand (tiles above one another)
// or the a operand (tiles beside one another).
enum Sharing : int { kShareNothing = 0, kShareB = 1, kShareA = 2 };

// One tile of one CTA. rows or columns of 0: nothing to compute, but the neighbour is served.
struct Tile {
  int group;    // negative: no more tiles
  int row;      // first output row (forward and dgrad: of the whole output; wgrad: of the group's)
  int rows;     // valid rows from there, at most a tile's
  int column;   // first output column
  int columns;  // valid columns from there, at most a tile's
  int first;    // the group's first row
  int depth;    // steps along the reduction
  int tail;     // wgrad: rows in the last step
  int sharing;
};

// A group, and which of its items.
struct Place {
  int group;  // negative: past the last item
  int start;  // its first row
  int size;   // its rows
  i64 item;
  int part;  // of its columns; negative: all
};

// An item is the tile, or the tiles, that a cluster computes at a time. One warp walks them; they
// only grow from call to call.
template <class C>
struct Walk {
  static constexpr Geometry g = C::geometry;
  static constexpr i64 kAcross = tiles_across(g);

  const int* ends;
  i64 total_rows;
  int groups;
  u32 lane;

  // Forward and dgrad: a window of 32 groups, one a lane.
  int base = 0;
  int start = 0;
  int size = 0;
  i64 items_before = 0;   // of groups before the window
  i64 items_through = 0;  // up to and with this lane's group

  // Items from here on are split in two.
  i64 first_split = (1ll << 62);
  bool knows_split = part_columns(g) == 0;

  // Wgrad: the groups with most rows first, and of equal ones the first.
  i64 place = -1;
  u64 key = ~0ull;  // size, then the complement of the index

  static constexpr int tiles_down(int rows) {
    const i64 all = g.op == Op::wgrad ? g.rows : rows;
    return static_cast<int>(ceil_div(all, g.tile_rows));
  }
  // A cluster takes as many tiles above one another as it has CTAs; what is left of the rows of
  // tiles is taken row by row, as many tiles beside one another.
  static constexpr int kCtas = g.cluster_ctas;
  static constexpr i64 kAcrossItems = ceil_div(kAcross, kCtas);
  static constexpr i64 items_of(int down) {
    return down / kCtas * kAcross + down % kCtas * kAcrossItems;
  }

  // Offsets out of order or past the end never lead outside the tensors.
  int clamped_end(int group) const {
    if (group < 0) return 0;
    const i64 end = ends[group];
    return static_cast<int>(end < 0 ? 0 : end > total_rows ? total_rows : end);
  }
  int size_of(int group) const { return max(clamped_end(group) - clamped_end(group - 1), 0); }

  // With split ones counted apart.
  Place find(i64 item) {
    if constexpr (g.op == Op::wgrad) {
      return find_longest_first(item);
    } else {
      if (item < first_split) return find_in_order(item);
      const i64 past = item - first_split;
      Place at = find_in_order(first_split + past / 2);
      at.part = static_cast<int>(past % 2);
      return at;
    }
  }

  // Splits what is left for the last wave, when it is at most half a wave. Walks all groups, so it
  // is put off until the first items are out, unless they might be the last.
  void split_last(i64 clusters) {
    i64 items = 0;
#pragma unroll 4
    for (int group = static_cast<int>(lane); group < groups; group += 32)
      items += items_of(tiles_down(size_of(group)));
#pragma unroll
    for (int step = 16; step > 0; step /= 2) items += __shfl_xor_sync(0xffffffffu, items, step);
    const i64 left = items % clusters;
    if (2 * left <= clusters) first_split = items - left;
    knows_split = true;
  }
  bool few_items(i64 clusters) const {
    return __shfl_sync(0xffffffffu, items_through, 31) < 2 * clusters;
  }

  void load_window() {
    const int group = base + static_cast<int>(lane);
    const bool valid = group < groups;
    start = valid ? clamped_end(group - 1) : 0;
    size = valid ? size_of(group) : 0;
    i64 items = valid ? items_of(tiles_down(size)) : 0;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const i64 other = __shfl_up_sync(0xffffffffu, items, step);
      if (lane >= step) items += other;
    }
    items_through = items_before + items;
  }
  Place find_in_order(i64 item) {
    while (true) {
      const u32 later = __ballot_sync(0xffffffffu, item < items_through);
      if (later != 0) {
        const int owner = __ffs(later) - 1;
        const int owner_size = __shfl_sync(0xffffffffu, size, owner);
        const i64 before =
            __shfl_sync(0xffffffffu, items_through, owner) - items_of(tiles_down(owner_size));
        return {
            base + owner, __shfl_sync(0xffffffffu, start, owner), owner_size, item - before, -1};
      }
      if (base + 32 >= groups) return {-1, 0, 0, 0, -1};
      items_before = __shfl_sync(0xffffffffu, items_through, 31);
      base += 32;
      load_window();
    }
  }

  void next_group() {
    u64 best = 0;
    for (int group = static_cast<int>(lane); group < groups; group += 32) {
      const u64 here = static_cast<u64>(size_of(group)) << 32 | static_cast<u32>(~group);
      if (here < key && here > best) best = here;
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      const u64 other = __shfl_xor_sync(0xffffffffu, best, step);
      if (other > best) best = other;
    }
    key = best;
    ++place;
  }
  Place find_longest_first(i64 item) {
    constexpr i64 kItems = items_of(tiles_down(0));
    const i64 wanted = item / kItems;
    if (wanted >= groups) return {-1, 0, 0, 0, -1};
    while (place < wanted) next_group();
    const int group = static_cast<int>(~static_cast<u32>(key));
    return {group, clamped_end(group - 1), static_cast<int>(key >> 32), item - wanted * kItems, -1};
  }

  // The tile of the CTA of that rank.
  Tile tile(const Place& at, u32 rank) const {
    if (at.group < 0) return Tile{-1};
    const int height = tiles_down(at.size);
    int down = 0, across = 0, sharing = kShareNothing;
    const i64 above = height / kCtas * kAcross;
    if (kCtas == 1 || at.item < above) {
      raster(at.item, height / kCtas, down, across);
      down = kCtas * down + static_cast<int>(rank);
      if constexpr (kCtas > 1) sharing = kShareB;
    } else {  // the last rows of tiles, where their number is no multiple
      const int beside = static_cast<int>(at.item - above);
      down = height / kCtas * kCtas + beside / static_cast<int>(kAcrossItems);
      across = beside % static_cast<int>(kAcrossItems) * kCtas + static_cast<int>(rank);
      sharing = kShareA;
    }
    const int all_rows = g.op == Op::wgrad ? static_cast<int>(g.rows) : at.size;
    Tile t;
    t.group = at.group;
    t.row = down * g.tile_rows;
    t.rows = min(all_rows - t.row, g.tile_rows);
    t.column = across * g.tile_columns + (at.part == 1 ? part_columns(g) : 0);
    const int width = at.part < 0    ? g.tile_columns
                      : at.part == 0 ? part_columns(g)
                                     : g.tile_columns - part_columns(g);
    t.columns = max(min(static_cast<int>(g.columns) - t.column, width), 0);
    t.first = at.start;
    t.sharing = sharing;
    if constexpr (g.op == Op::wgrad) {
      t.depth = static_cast<int>(ceil_div(at.size, g.tile_depth));
      t.tail = at.size - (t.depth - 1) * g.tile_depth;
    } else {
      t.row += at.start;
      // Whoever shares b has the same columns, so with none there is nothing to serve either.
      t.depth = t.columns == 0 && sharing != kShareA
                    ? 0
                    : static_cast<int>(ceil_div(g.depth, g.tile_depth));
      t.tail = g.tile_depth;
    }
    return t;
  }

  // Bands of rows of tiles, each walked column by column: what runs at one time is close to a
  // square, so that both operands come from L2.
  static void raster(i64 item, int height, int& down, int& across) {
    const int band = static_cast<int>(item / (g.band * kAcross));
    const int in_band = static_cast<int>(item - band * g.band * kAcross);
    const int rows = min(height - band * g.band, g.band);
    across = in_band / rows;
    down = band * g.band + in_band % rows;
  }
};

}  // namespace kiln::grouped_gemm
