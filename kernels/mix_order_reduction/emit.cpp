// The source of a fused plan: the formula, the planner's constants, then ordinary CUDA by #include.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/composed_source.hpp"
#include "kernels/mix_order_reduction/formula.hpp"
#include "kernels/mix_order_reduction/op.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr std::string_view kIncludes = "\n#include \"kernels/mix_order_reduction/reduction.cuh\"\n";
constexpr std::string_view kFunctions = "#include \"kernels/mix_order_reduction/functions.cuh\"\n";

}  // namespace

// Named arguments would be searched for at each place, which is most of what emitting costs; the
// order is the text's.
Source emit(const Plan& plan, std::size_t index) {
  const Op op = Op::from(plan.signature);
  const StagePlan& stage = plan.stages.at(index);
  if (plan.route == Route::composed) return composed_kernel(op, stage.entry);
  const auto constant = [&](std::string_view name) { return stage.constant(name); };
  const std::string config = fmt::format(R"(
struct Config {{
  using Formula = ::Formula;
  static constexpr kiln::mix_order_reduction::Geometry geometry{{
      .n = {},
      .element_bytes = Formula::Matrix::kBytes,
      .inputs = {},
      .row_sums = {},
      .threads = {},
      .lanes_per_thread = {},
      .rows_per_step = {},
      .stages = {},
      .cluster_ctas = {},
  }};
  static constexpr bool keep_inputs = {};
  static constexpr bool row_vectors_in_registers = {};
  static constexpr bool takes_any_alignment = {};
  static constexpr float inverse_n = 1.0f / geometry.n;
  static constexpr long long smem_bytes = {};
}};

extern "C" __global__ void __launch_bounds__({}, {})
{}(const __grid_constant__ kiln::mix_order_reduction::ReductionParameters p) {{
  kiln::mix_order_reduction::reduce<Config>(p);
}}
)",
                                         constant("n"),
                                         constant("inputs"),
                                         constant("row_sums"),
                                         stage.threads,
                                         constant("lanes_per_thread"),
                                         constant("rows_per_step"),
                                         constant("stages"),
                                         constant("cluster_ctas"),
                                         constant("keep_inputs") != 0,
                                         constant("row_vectors_in_registers") != 0,
                                         constant("takes_any_alignment") != 0,
                                         stage.smem_bytes,
                                         stage.threads,
                                         stage.ctas_per_sm,
                                         stage.entry);
  const std::string& formula = op.variant->formula();
  std::string text;
  text.reserve(2 * stage.entry.size() + formula.size() + config.size() + kIncludes.size() +
               kFunctions.size());
  text.append("// ").append(stage.entry).append(kIncludes);
  if (has_functions(op.program)) text.append(kFunctions);
  text.append("\n").append(formula).append(config);
  return {std::move(text), stage.entry};
}

}  // namespace kiln::mix_order_reduction
