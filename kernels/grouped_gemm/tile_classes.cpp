// Tiles by shape and mean rows a group. The threshold between the two adds and the cost of 192
// columns are measured on an H200 (docs/grouped_gemm.md); the costs of 128 and 64 are estimates.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>

#include <fmt/format.h>

#include "kernels/grouped_gemm/op.hpp"

namespace kiln::grouped_gemm {
namespace {

// How a width does: columns computed, valid or not, weighted by what a column costs at that width
// (bytes of shared memory and L2 a product).
struct Width {
  int columns;
  double cost;
  int stages;  // as many as fit beside the slabs
  int slabs;
};
constexpr std::array<Width, 4> kWidths{
    Width{256, 1.00, 4, 2}, Width{192, 1.03, 5, 1}, Width{128, 1.20, 6, 2}, Width{64, 1.60, 8, 2}};

Width width_for(std::int64_t columns) {
  Width best = kWidths[0];
  double least = std::numeric_limits<double>::max();
  for (const Width& width : kWidths) {
    const double cost =
        width.cost * static_cast<double>(ceil_div(columns, width.columns) * width.columns);
    if (cost < least) {
      least = cost;
      best = width;
    }
  }
  return best;
}

}  // namespace

std::vector<TileClass> tile_classes(const GroupedGemm& gemm) {
  const Width width = width_for(gemm.out_columns());
  Geometry g;
  g.op = gemm.op;
  g.rows = gemm.op == Op::wgrad ? gemm.n : 0;
  g.columns = gemm.out_columns();
  g.depth = gemm.op == Op::forward ? gemm.k : gemm.op == Op::dgrad ? gemm.n : 0;
  g.out_bytes = size_bytes(gemm.out);
  g.tile_columns = width.columns;
  g.stages = width.stages;
  g.slabs = width.slabs;
  const std::string why = fmt::format("{} columns in tiles of {}: {} computed",
                                      gemm.out_columns(),
                                      width.columns,
                                      ceil_div(gemm.out_columns(), width.columns) * width.columns);
  if (!gemm.accumulate) return {{0, g, why}};

  // Staged: fewer stages, so that more old values are on their way.
  Geometry staged = g;
  staged.add = Add::staged;
  if (width.columns == 256) {
    staged.stages = 3;
    staged.slabs = gemm.out == DType::f32 ? 5 : 4;
  } else if (width.columns == 192) {
    staged.stages = 4;
    staged.slabs = 3;
  }
  if (gemm.out != DType::f32)
    return {{0, staged, why + "; old values staged: the copy engine adds fp32 alone"}};
  Geometry engine = g;
  engine.add = Add::engine;
  // 2,048 rows a group, n 4,096, k 7,168: 6.1 ms against 6.6 staged; 512 rows, n 2,816, k 2,048:
  // 1.36 against 1.13.
  constexpr std::int64_t kEngineFromRows = 1024;
  return {
      {kEngineFromRows, engine, why + "; the copy engine adds while the next tile is multiplied"},
      {0,
       staged,
       why + "; few rows a group: old values staged, for the copy engine's adds are "
             "slower than memory"}};
}

}  // namespace kiln::grouped_gemm
