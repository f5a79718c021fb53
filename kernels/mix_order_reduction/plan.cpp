// The planner: thread geometry, rows a step and pipeline stages, by an exact shared-memory and a
// register budget.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/mix_order_reduction/choices.hpp"
#include "kernels/mix_order_reduction/composed_formula.hpp"
#include "kernels/mix_order_reduction/fit.hpp"
#include "kernels/mix_order_reduction/layout.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/registry.hpp"

namespace kiln::mix_order_reduction {
namespace {

std::string tile_text(const Geometry& g) {
  const int rows = g.rows_per_step * chains(g.n);
  return fmt::format("{} row{} x {} columns", rows, rows == 1 ? "" : "s", g.n);
}

// Whether the fused kernel itself serves rows that start on no 16 bytes: where rows end within a
// vector anyway, and for described ops, whose composed kernels would each be a compile.
bool takes_any_alignment(const Op& op) { return op.n % kVector != 0 || !is_builtin(op.name); }

bool accumulates(const Op& op) {
  return std::any_of(op.program.outputs.begin(), op.program.outputs.end(), [](const Output& o) {
    return o.tensor.accumulate;
  });
}

// <op>_<types>_t<tile>_s<stages>[_acc]
std::string entry_name(const Op& op, const Geometry& g) {
  return fmt::format("{}{}_t{}x{}_s{}{}",
                     op.name,
                     op.variant->types(),
                     g.rows_per_step * chains(g.n),
                     g.n,
                     g.stages,
                     accumulates(op) ? "_acc" : "");
}

StagePlan stage_plan(const Op& op,
                     const Candidate& c,
                     const PipelineChoice& pipeline,
                     const DeviceLimits& limits) {
  const Geometry& g = c.geometry;
  StagePlan stage;
  stage.entry = entry_name(op, g);
  stage.tile = tile_text(g);
  stage.threads = g.threads;
  stage.ctas_per_sm = c.ctas_per_sm;
  stage.cluster_ctas = g.cluster_ctas;
  stage.pipeline = pipeline;
  stage.smem_bytes = smem_bytes(g);
  stage.register_budget = registers_allowed(limits, g.threads, c.ctas_per_sm);
  stage.constants = {{"n", g.n},
                     {"inputs", g.inputs},
                     {"row_sums", g.row_sums},
                     {"lanes_per_thread", g.lanes_per_thread},
                     {"rows_per_step", g.rows_per_step},
                     {"stages", g.stages},
                     {"cluster_ctas", g.cluster_ctas},
                     {"keep_inputs", c.keep_inputs},
                     {"row_vectors_in_registers", c.row_vectors_in_registers},
                     {"takes_any_alignment", takes_any_alignment(op)}};
  stage.types.emplace_back("matrix", to_string(matrix_type(op)));
  for (const int i : op.shape.row_vectors) {
    const ProgramTensor& t = input_of(op.program, i);
    stage.types.emplace_back(t.name, to_string(t.type));
  }
  for (const int o : op.shape.column_sums) {
    const ProgramTensor& t = output_of(op.program, o).tensor;
    stage.types.emplace_back(t.name, to_string(t.type));
  }
  return stage;
}

std::string why(const PipelineChoice& p, const Candidate& c, bool allowed, std::int64_t limit) {
  const std::int64_t buffer = stage_bytes(c.geometry);
  if (p.chosen == p.asked) return "as asked";
  if (p.chosen == p.cap) {
    return allowed ? "lowered by KILN_MAX_STAGES"
                   : "capped at 1: KILN_ALLOW_MULTI_STAGES=1 opts in to the stages asked";
  }
  if (p.chosen < p.fits) {
    return fmt::format(
        "with {} KiB an SM under way, and as much in registers, more stages were slower",
        p.chosen * stage_bytes_per_sm(c) / 1024);
  }
  return fmt::format(
      "{} buffers of {} bytes fit the {} bytes a CTA may use", p.fits, buffer, limit);
}

// The composed kernels of an op, in the order of pack_composed.
std::vector<StagePlan> composed_stages(const Op& op) {
  std::vector<StagePlan> out;
  const auto add = [&](std::string entry, std::string tile) {
    StagePlan stage;
    stage.entry = std::move(entry);
    stage.tile = std::move(tile);
    stage.threads = 256;
    stage.pipeline.why = "composed kernels keep no stages";
    out.push_back(std::move(stage));
  };
  const ComposedEntries& entries = op.variant->composed_entries(op.name);
  if (has_rows(op.shape)) add(entries.rows, "1 row");
  if (!op.shape.column_sums.empty()) {
    add(entries.columns, sums_need_passes(op.shape) ? "a row block" : "256 columns of a row block");
    add(std::string(kFinishEntry), "256 columns");
  }
  return out;
}

// Partial sums, twice where composed kernels sum chains a row at a time.
std::int64_t workspace_needed(const Op& op, bool composed) {
  return static_cast<std::int64_t>(op.shape.column_sums.size()) * workspace_bytes(op.n) *
         (composed && sums_need_passes(op.shape) ? 2 : 1);
}

}  // namespace

PlanResult plan(const Signature& signature, const DeviceLimits& limits, const Policy& policy) {
  const Op op = Op::from(signature);
  if (op.n > kMaxFusedColumns) {
    return Rejection{
        FallbackReason::unsupported_size,
        fmt::format(
            "n = {} is wider than the {} columns that a cluster holds", op.n, kMaxFusedColumns)};
  }
  if (op.n > kMaxCtaColumns && limits.max_cluster_ctas < 2) {
    return Rejection{
        FallbackReason::unsupported_size,
        fmt::format("n = {} is wider than the {} columns that one CTA holds; {} has no clusters",
                    op.n,
                    kMaxCtaColumns,
                    limits.arch.text())};
  }
  if (!one_matrix_type(op)) {
    return Rejection{FallbackReason::unsupported_option,
                     "the fused kernel takes matrices of one type; these are of several"};
  }
  PipelineChoice pipeline;
  pipeline.asked = op.n > 8192 ? 2 : 3;  // the reference formula's value for a long loop
  pipeline.cap = policy.allow_multi_stages ? pipeline.asked : 1;
  if (policy.max_stages) pipeline.cap = std::min(pipeline.cap, *policy.max_stages);
  const int wanted = std::min(pipeline.asked, pipeline.cap);

  Candidate* best = nullptr;
  std::vector<Candidate> all =
      policy.candidate.empty() ? candidates(op) : std::vector{choice_named(op, policy.candidate)};
  for (Candidate& c : all) {
    if (!threads_fit(limits, c)) continue;
    if (c.last_resort && best != nullptr) break;
    if (!registers_fit(op, limits, c)) continue;
    const int fits = stages_that_fit(c.geometry, smem_limit(limits, c.ctas_per_sm), wanted);
    if (fits < (policy.candidate.empty() ? c.least_stages : 1)) continue;
    c.geometry.stages = fits;
    if (best == nullptr || (best->geometry.stages == 1 && fits > 1)) best = &c;
    if (best->geometry.stages >= std::min(2, wanted) || best->enough_at_one_stage) break;
  }
  if (best == nullptr) {
    return Rejection{
        FallbackReason::unsupported_size,
        fmt::format(
            "one row of n = {} {} elements needs more shared memory than the {} bytes of {}, or "
            "its sums more registers",
            op.n,
            to_string(matrix_type(op)),
            limits.smem_per_cta_bytes,
            limits.arch.text())};
  }
  const std::int64_t limit = smem_limit(limits, best->ctas_per_sm);
  best->geometry.stages = std::min(best->geometry.stages, useful_stages(*best, pipeline.asked));
  pipeline.fits = stages_that_fit(best->geometry, limit, pipeline.asked);
  pipeline.chosen = best->geometry.stages;
  pipeline.why = why(pipeline, *best, policy.allow_multi_stages, limit);

  Plan out;
  out.family = "mix_order_reduction";
  out.signature = signature;
  out.arch = limits.arch;
  out.route = Route::fused;
  out.stages.push_back(stage_plan(op, *best, pipeline, limits));
  // A fifth of the compile time of a kernel is its path for rows that start anywhere; where whole
  // rows are vectors, such rows are rare, and the composed kernels are there.
  if (!takes_any_alignment(op)) {
    out.otherwise = composed_stages(op);
    out.otherwise_when = "a matrix has rows, or a row vector starts, off a multiple of 16 bytes";
  }
  out.workspace_bytes = workspace_needed(op, !out.otherwise.empty());
  out.notes = {
      fmt::format("a row is {} lanes of {} columns in {} panel{}; {} thread{} own{} it",
                  lanes(op.n),
                  kVector,
                  panels(op.n),
                  panels(op.n) == 1 ? "" : "s",
                  group_threads(best->geometry),
                  group_threads(best->geometry) == 1 ? "" : "s",
                  group_threads(best->geometry) == 1 ? "s" : ""),
      fmt::format("registers: {} needed by estimate, {} allowed with {} CTA{} of {} threads an SM",
                  registers_needed(op, *best),
                  registers_allowed(limits, best->geometry.threads, best->ctas_per_sm),
                  best->ctas_per_sm,
                  best->ctas_per_sm == 1 ? "" : "s",
                  best->geometry.threads),
      fmt::format("shared memory: {} of {} bytes a CTA ({} a stage)",
                  smem_bytes(best->geometry),
                  limit,
                  stage_bytes(best->geometry)),
      fmt::format("column sums: at most {} row blocks of {} chain{} each",
                  max_row_blocks(op.n),
                  chains(op.n),
                  chains(op.n) == 1 ? "" : "s"),
  };
  if (!policy.candidate.empty())
    out.notes.push_back(fmt::format("candidate {}, as asked for", policy.candidate));
  return out;
}

Plan compose(const Signature& signature, const DeviceLimits& limits, const Fallback& fallback) {
  const Op op = Op::from(signature);
  Plan out;
  out.family = "mix_order_reduction";
  out.signature = signature;
  out.arch = limits.arch;
  out.route = Route::composed;
  out.fallback = fallback;
  if (!is_builtin(op.name)) out.notes = {"composed kernels of a described op are compiled"};
  out.workspace_bytes = workspace_needed(op, true);
  out.stages = composed_stages(op);
  return out;
}

}  // namespace kiln::mix_order_reduction
