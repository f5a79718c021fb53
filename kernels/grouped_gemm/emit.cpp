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

// Named arguments would be searched for at each place; the order is the text's.
Source emit(const Plan& plan, std::size_t index) {
  const StagePlan& stage = plan.stages.at(index);
  const GroupedGemm gemm = GroupedGemm::from(plan.signature);
  const auto constant = [&](std::string_view name) { return stage.constant(name); };
  std::string text = fmt::format(R"(// {}
#include "kernels/grouped_gemm/hopper.cuh"

struct Config {{
  using Out = kiln::{};
  static constexpr kiln::grouped_gemm::Geometry geometry{{
      .op = kiln::grouped_gemm::Op::{},
      .rows = {},
      .columns = {},
      .depth = {},
      .out_bytes = Out::kBytes,
      .add = kiln::grouped_gemm::Add::{},
      .tile_rows = {},
      .tile_columns = {},
      .tile_depth = {},
      .stages = {},
      .slabs = {},
      .cluster_ctas = {},
      .band = {},
  }};
  static constexpr int threads = {};
  static constexpr long long smem_bytes = {};
}};

extern "C" __global__ void __launch_bounds__({}, 1)
{}(const __grid_constant__ kiln::grouped_gemm::HopperParameters p) {{
  kiln::grouped_gemm::hopper<Config>(p);
}}
)",
                                 stage.entry,
                                 type_of(stage, "Out"),
                                 gemm.op == Op::forward ? "forward"
                                 : gemm.op == Op::dgrad ? "dgrad"
                                                        : "wgrad",
                                 constant("rows"),
                                 constant("columns"),
                                 constant("depth"),
                                 type_of(stage, "add"),
                                 constant("tile_rows"),
                                 constant("tile_columns"),
                                 constant("tile_depth"),
                                 constant("stages"),
                                 constant("slabs"),
                                 constant("cluster_ctas"),
                                 constant("band"),
                                 stage.threads,
                                 stage.smem_bytes,
                                 stage.threads,
                                 stage.entry);
  return {std::move(text), stage.entry};
}

}  // namespace kiln::grouped_gemm
