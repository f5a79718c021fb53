// The source of a fused plan: a prelude of the planner's constants, then ordinary CUDA by #include.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/op.hpp"

namespace kiln::mix_order_reduction {
namespace {

std::string_view type_of(const StagePlan& stage, std::string_view role) {
  for (const auto& [name, type] : stage.types) {
    if (name == role) return type;
  }
  throw Error(ErrorCode::internal, "the plan names no type for " + std::string(role));
}

std::string_view truth(const StagePlan& stage, std::string_view name) {
  return stage.constant(name) != 0 ? "true" : "false";
}

}  // namespace

Source emit(const Plan& plan, std::size_t index) {
  const StagePlan& stage = plan.stages.at(index);
  const auto constant = [&](std::string_view name) { return stage.constant(name); };
  std::string text = fmt::format(R"(// {signature}
#include "kernels/mix_order_reduction/rms_norm_backward.cuh"

struct Config {{
  using X = kiln::{x};
  using W = kiln::{w};
  using DW = kiln::{dw};
  static constexpr kiln::mix_order_reduction::Geometry geometry{{
      .n = {n},
      .element_bytes = X::kBytes,
      .inputs = {inputs},
      .threads = {threads},
      .lanes_per_thread = {lanes},
      .rows_per_step = {rows},
      .stages = {stages},
      .cluster_ctas = {cluster},
  }};
  static constexpr bool keep_inputs = {keep};
  static constexpr bool weight_in_registers = {weight};
  static constexpr bool residual = {residual};
  static constexpr bool accumulate = {accumulate};
  static constexpr float inverse_n = 1.0f / geometry.n;
  static constexpr long long smem_bytes = {smem};
}};

extern "C" __global__ void __launch_bounds__({threads}, {ctas})
{entry}(const __grid_constant__ kiln::mix_order_reduction::RmsNormBackwardParameters p) {{
  kiln::mix_order_reduction::rms_norm_backward<Config>(p);
}}
)",
                                 fmt::arg("signature", stage.entry),
                                 fmt::arg("x", type_of(stage, "X")),
                                 fmt::arg("w", type_of(stage, "W")),
                                 fmt::arg("dw", type_of(stage, "DW")),
                                 fmt::arg("n", constant("n")),
                                 fmt::arg("inputs", constant("inputs")),
                                 fmt::arg("threads", stage.threads),
                                 fmt::arg("lanes", constant("lanes_per_thread")),
                                 fmt::arg("rows", constant("rows_per_step")),
                                 fmt::arg("stages", constant("stages")),
                                 fmt::arg("cluster", constant("cluster_ctas")),
                                 fmt::arg("keep", truth(stage, "keep_inputs")),
                                 fmt::arg("weight", truth(stage, "weight_in_registers")),
                                 fmt::arg("residual", truth(stage, "residual")),
                                 fmt::arg("accumulate", truth(stage, "accumulate")),
                                 fmt::arg("smem", stage.smem_bytes),
                                 fmt::arg("ctas", stage.ctas_per_sm),
                                 fmt::arg("entry", stage.entry));
  return {std::move(text), stage.entry};
}

}  // namespace kiln::mix_order_reduction
