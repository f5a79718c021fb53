// Geometry and shared memory of the Hopper kernel: computed once, by the planner and by the device
// code alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::grouped_gemm {

enum class Op { forward, dgrad, wgrad };

// How a tile reaches an output that is added to.
enum class Add {
  none,    // it overwrites
  engine,  // the copy engine adds fp32 where it lies: no reads, but L2 adds slowly
  staged,  // old values are read into shared memory while the tile's reduction runs
};

constexpr long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }

// Operands move in units of 64 outer elements by one step of the reduction: rows of 128 bytes, as
// wide as the swizzle.
inline constexpr int kUnit = 64;
// A warp's share of the output: 16 rows of 128 bytes.
inline constexpr int kSlabRows = 16;
inline constexpr int kSlabBytes = kSlabRows * 128;
inline constexpr int kTileRecordBytes = 64;
// Tiles that are known ahead, where they are short. Against one: wgrad fp32 1.2 to 2% faster at
// E 64, 128 and 256 on an H200, the rest within noise.
inline constexpr int kTileRecords = 3;
// With more steps than this one tile ahead is enough, and the last ones are drawn late.
inline constexpr int kShortTileSteps = 16;

// What the planner chooses.
struct Geometry {
  Op op = Op::forward;
  long long rows = 0;     // wgrad: output rows, n; else the groups decide
  long long columns = 0;  // output columns: forward n; dgrad and wgrad k
  long long depth = 0;    // forward k, dgrad n; wgrad: the groups decide
  int out_bytes = 2;
  Add add = Add::none;
  int tile_rows = 128;  // 64 for each warpgroup that multiplies
  int tile_columns = 256;
  int tile_depth = 64;   // of one step
  int stages = 4;        // steps in flight
  int slabs = 2;         // a warp
  int cluster_ctas = 2;  // that share an operand
  int band = 8;          // rows of tiles that are walked column by column
};

// Where few items are left for the last wave of clusters, each is split into two of this many
// columns and the rest. 0: never; wgrad's tiles are short.
constexpr int part_columns(const Geometry& g) {
  return g.op != Op::wgrad && g.tile_columns > 128 ? 128 : 0;
}

constexpr int a_units(const Geometry& g) { return g.tile_rows / kUnit; }
constexpr int b_units(const Geometry& g) { return g.tile_columns / kUnit; }
constexpr int unit_bytes(const Geometry& g) { return kUnit * g.tile_depth * 2; }
constexpr int stage_bytes(const Geometry& g) { return (a_units(g) + b_units(g)) * unit_bytes(g); }
constexpr int consumer_warps(const Geometry& g) { return g.tile_rows / kUnit * 4; }
// Warpgroups that multiply, and one whose warps load a, schedule, and load b.
constexpr int threads(const Geometry& g) { return 32 * consumer_warps(g) + 128; }
constexpr int tiles_across(const Geometry& g) {
  return static_cast<int>(ceil_div(g.columns, g.tile_columns));
}
constexpr int slab_columns(const Geometry& g) { return 128 / g.out_bytes; }
constexpr int slabs_of_tile(const Geometry& g) { return g.tile_columns / slab_columns(g); }

// Offsets in shared memory: stages, slabs, tile records, barriers.
constexpr int slabs_at(const Geometry& g) { return g.stages * stage_bytes(g); }
constexpr int tile_at(const Geometry& g) {
  return slabs_at(g) + consumer_warps(g) * g.slabs * kSlabBytes;
}
constexpr int barriers_at(const Geometry& g) {
  return tile_at(g) + kTileRecords * kTileRecordBytes;
}
constexpr long long smem_bytes(const Geometry& g) {
  return barriers_at(g) + 8 * (2 * g.stages + 2 * kTileRecords + consumer_warps(g) * g.slabs);
}

// setmaxnreg moves registers from the loading warpgroup to those that multiply.
inline constexpr int kLaunchRegisters = 168;
inline constexpr int kLoaderRegisters = 40;
inline constexpr int kConsumerRegisters = 232;

}  // namespace kiln::grouped_gemm
