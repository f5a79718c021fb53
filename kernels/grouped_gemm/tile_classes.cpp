// Tiles by shape and mean rows a group. The threshold between the two adds and the cost of 192
// columns are measured on an H200 (docs/grouped_gemm.md); the costs of 128 and 64 are estimates.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>

#include <fmt/format.h>

#include <kiln/error.hpp>

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

std::string why(const GroupedGemm& gemm, int columns) {
  return fmt::format("{} columns in tiles of {}: {} computed",
                     gemm.out_columns(),
                     columns,
                     ceil_div(gemm.out_columns(), columns) * columns);
}

Geometry geometry(const GroupedGemm& gemm, const Width& width) {
  Geometry g;
  g.op = gemm.op;
  g.rows = gemm.op == Op::wgrad ? gemm.n : 0;
  g.columns = gemm.out_columns();
  g.depth = gemm.op == Op::forward ? gemm.k : gemm.op == Op::dgrad ? gemm.n : 0;
  g.out_bytes = size_bytes(gemm.out);
  g.tile_columns = width.columns;
  g.stages = width.stages;
  g.slabs = width.slabs;
  return g;
}

// Fewer stages, so that more old values are on their way.
Geometry staged(Geometry g) {
  g.add = Add::staged;
  if (g.tile_columns == 256) {
    g.stages = 3;
    g.slabs = g.out_bytes == 4 ? 5 : 4;
  } else if (g.tile_columns == 192) {
    g.stages = 4;
    g.slabs = 3;
  }
  return g;
}

Geometry engine(Geometry g) {
  g.add = Add::engine;
  return g;
}

std::string candidate_name(const Geometry& g) {
  std::string name =
      fmt::format("t{}x{}_c{}_b{}", g.tile_rows, g.tile_columns, g.cluster_ctas, g.band);
  if (g.add != Add::none) name += g.add == Add::engine ? "_engine" : "_staged";
  return name;
}

// Every geometry that a candidate names.
std::vector<Geometry> all_geometries(const GroupedGemm& gemm) {
  struct Walked {
    int cluster_ctas, band;
  };
  std::vector<Geometry> out;
  for (const Width& width : kWidths) {
    for (const Walked walked : {Walked{2, 8}, {1, 8}, {4, 8}, {2, 4}, {2, 16}}) {
      Geometry g = geometry(gemm, width);
      g.cluster_ctas = walked.cluster_ctas;
      g.band = walked.band;
      if (!gemm.accumulate) {
        out.push_back(g);
        continue;
      }
      if (gemm.out == DType::f32) out.push_back(engine(g));
      out.push_back(staged(g));
    }
  }
  return out;
}

}  // namespace

std::vector<TileClass> tile_classes(const GroupedGemm& gemm) {
  const Geometry g = geometry(gemm, width_for(gemm.out_columns()));
  const std::string reason = why(gemm, g.tile_columns);
  if (!gemm.accumulate) return {{0, g, reason}};
  if (gemm.out != DType::f32)
    return {{0, staged(g), reason + "; old values staged: the copy engine adds fp32 alone"}};
  // 2,048 rows a group, n 4,096, k 7,168: 6.1 ms against 6.6 staged; 512 rows, n 2,816, k 2,048:
  // 1.36 against 1.13.
  constexpr std::int64_t kEngineFromRows = 1024;
  return {
      {kEngineFromRows,
       engine(g),
       reason + "; the copy engine adds while the next tile is multiplied"},
      {0,
       staged(g),
       reason + "; few rows a group: old values staged, for the copy engine's adds are slower than "
                "memory"}};
}

std::vector<std::string> candidate_names(const GroupedGemm& gemm) {
  std::vector<std::string> out;
  for (const Geometry& g : all_geometries(gemm)) out.push_back(candidate_name(g));
  return out;
}

TileClass tile_class_named(const GroupedGemm& gemm, std::string_view name) {
  for (const Geometry& g : all_geometries(gemm)) {
    if (candidate_name(g) == name)
      return {
          0, g, why(gemm, g.tile_columns) + fmt::format("; candidate {}, not the planner's", name)};
  }
  throw Error(ErrorCode::internal, fmt::format("no candidate {} of {}", name, gemm.name()));
}

}  // namespace kiln::grouped_gemm
