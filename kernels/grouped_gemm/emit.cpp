// The source of a fused plan: a prelude of the planner's constants, then ordinary CUDA by #include.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/grouped_gemm/op.hpp"

namespace kiln::grouped_gemm {
namespace {

std::string_view type_of(const StagePlan& stage, std::string_view role) {
  for (const auto& [name, type] : stage.types) {
    if (name == role) return type;
  }
  throw Error(ErrorCode::internal, "the plan names no type for " + std::string(role));
}

}  // namespace

Source emit(const Plan& plan, std::size_t index) {
  const StagePlan& stage = plan.stages.at(index);
  const GroupedGemm gemm = GroupedGemm::from(plan.signature);
  const auto constant = [&](std::string_view name) { return stage.constant(name); };
  std::string text = fmt::format(R"(// {entry}
#include "kernels/grouped_gemm/hopper.cuh"

struct Config {{
  using Out = kiln::{out};
  static constexpr kiln::grouped_gemm::Geometry geometry{{
      .op = kiln::grouped_gemm::Op::{op},
      .rows = {rows},
      .columns = {columns},
      .depth = {depth},
      .out_bytes = Out::kBytes,
      .add = kiln::grouped_gemm::Add::{add},
      .tile_rows = {tile_rows},
      .tile_columns = {tile_columns},
      .tile_depth = {tile_depth},
      .stages = {stages},
      .slabs = {slabs},
      .cluster_ctas = {cluster},
      .band = {band},
  }};
  static constexpr int threads = {threads};
  static constexpr long long smem_bytes = {smem};
}};

extern "C" __global__ void __launch_bounds__({threads}, 1)
{entry}(const __grid_constant__ kiln::grouped_gemm::HopperParameters p) {{
  kiln::grouped_gemm::hopper<Config>(p);
}}
)",
                                 fmt::arg("entry", stage.entry),
                                 fmt::arg("out", type_of(stage, "Out")),
                                 fmt::arg("op",
                                          gemm.op == Op::forward ? "forward"
                                          : gemm.op == Op::dgrad ? "dgrad"
                                                                 : "wgrad"),
                                 fmt::arg("rows", constant("rows")),
                                 fmt::arg("columns", constant("columns")),
                                 fmt::arg("depth", constant("depth")),
                                 fmt::arg("add", type_of(stage, "add")),
                                 fmt::arg("tile_rows", constant("tile_rows")),
                                 fmt::arg("tile_columns", constant("tile_columns")),
                                 fmt::arg("tile_depth", constant("tile_depth")),
                                 fmt::arg("stages", constant("stages")),
                                 fmt::arg("slabs", constant("slabs")),
                                 fmt::arg("cluster", constant("cluster_ctas")),
                                 fmt::arg("band", constant("band")),
                                 fmt::arg("threads", stage.threads),
                                 fmt::arg("smem", stage.smem_bytes));
  return {std::move(text), stage.entry};
}

}  // namespace kiln::grouped_gemm
