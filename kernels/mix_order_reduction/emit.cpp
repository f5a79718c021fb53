// The source of a fused plan: the formula, the planner's constants, then ordinary CUDA by #include.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/composed_source.hpp"
#include "kernels/mix_order_reduction/formula.hpp"
#include "kernels/mix_order_reduction/op.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr std::string_view kFunctions = "#include \"kernels/mix_order_reduction/functions.cuh\"\n";

}  // namespace

Source emit(const Plan& plan, std::size_t index) {
  const Op op = Op::from(plan.signature);
  const StagePlan& stage = plan.stages.at(index);
  if (plan.route == Route::composed) return composed_kernel(op, stage.entry);
  const auto constant = [&](std::string_view name) { return stage.constant(name); };
  const auto truth = [&](std::string_view name) {
    return stage.constant(name) != 0 ? "true" : "false";
  };
  std::string text = fmt::format(R"(// {signature}
#include "kernels/mix_order_reduction/reduction.cuh"
{functions}
{formula}
struct Config {{
  using Formula = ::Formula;
  static constexpr kiln::mix_order_reduction::Geometry geometry{{
      .n = {n},
      .element_bytes = Formula::Matrix::kBytes,
      .inputs = {inputs},
      .row_sums = {row_sums},
      .threads = {threads},
      .lanes_per_thread = {lanes},
      .rows_per_step = {rows},
      .stages = {stages},
      .cluster_ctas = {cluster},
  }};
  static constexpr bool keep_inputs = {keep};
  static constexpr bool row_vectors_in_registers = {vectors};
  static constexpr bool takes_any_alignment = {any};
  static constexpr float inverse_n = 1.0f / geometry.n;
  static constexpr long long smem_bytes = {smem};
}};

extern "C" __global__ void __launch_bounds__({threads}, {ctas})
{entry}(const __grid_constant__ kiln::mix_order_reduction::ReductionParameters p) {{
  kiln::mix_order_reduction::reduce<Config>(p);
}}
)",
                                 fmt::arg("signature", stage.entry),
                                 fmt::arg("functions", has_functions(op.program) ? kFunctions : ""),
                                 fmt::arg("formula", fused_formula(op.program, op.shape)),
                                 fmt::arg("n", constant("n")),
                                 fmt::arg("inputs", constant("inputs")),
                                 fmt::arg("row_sums", constant("row_sums")),
                                 fmt::arg("threads", stage.threads),
                                 fmt::arg("lanes", constant("lanes_per_thread")),
                                 fmt::arg("rows", constant("rows_per_step")),
                                 fmt::arg("stages", constant("stages")),
                                 fmt::arg("cluster", constant("cluster_ctas")),
                                 fmt::arg("keep", truth("keep_inputs")),
                                 fmt::arg("vectors", truth("row_vectors_in_registers")),
                                 fmt::arg("any", truth("takes_any_alignment")),
                                 fmt::arg("smem", stage.smem_bytes),
                                 fmt::arg("ctas", stage.ctas_per_sm),
                                 fmt::arg("entry", stage.entry));
  return {std::move(text), stage.entry};
}

}  // namespace kiln::mix_order_reduction
