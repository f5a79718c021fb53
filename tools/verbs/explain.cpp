// `kiln explain` and `kiln emit`: what would run for a signature, why, and its source.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/documents.hpp"
#include "tools/exit_code.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::cli {
namespace {

Options options_of(const PlanOptions& options) {
  Options out = service_options();
  out.policy.candidate = options.candidate;
  return out;
}

Plan planned(const PlanOptions& options, Service& service) {
  const Signature signature = Signature::parse(options.signature);
  std::vector<std::string> names;
  if (!options.arch.empty()) names.push_back(options.arch);
  const std::vector<Arch> archs = resolve_archs(names, service);
  return service.plan(signature, archs.front());
}

std::string stage_text(const StagePlan& stage, std::size_t index) {
  const PipelineChoice& pipeline = stage.pipeline;
  std::string text = fmt::format("\nkernel {}: {}\n", index, stage.entry);
  const auto line = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<15} {}\n", name, value);
  };
  line("tile", stage.tile);
  line("threads",
       fmt::format("{} a CTA, {} CTAs an SM, clusters of {}",
                   stage.threads,
                   stage.ctas_per_sm,
                   stage.cluster_ctas));
  line("stages",
       fmt::format("{} (asked {}, cap {}, fits {}): {}",
                   pipeline.chosen,
                   pipeline.asked,
                   pipeline.cap,
                   pipeline.fits,
                   pipeline.why));
  line("shared memory", fmt::format("{} B dynamic a CTA", stage.smem_bytes));
  if (stage.register_budget > 0)
    line("registers", fmt::format("at most {} a thread", stage.register_budget));
  for (const auto& [role, type] : stage.types) line("type", fmt::format("{} = {}", role, type));
  for (const auto& [name, value] : stage.constants)
    line("constant", fmt::format("{} = {}", name, value));
  return text;
}

std::string plan_text(const Plan& plan) {
  std::string text = fmt::format(
      "signature        {}\narchitecture     {}\nfamily           {}\nroute            {}\n",
      plan.signature.text(),
      plan.arch.text(),
      plan.family,
      to_string(plan.route));
  if (plan.fallback) {
    text += fmt::format("reason           {}: {}\n                 {}\n",
                        to_string(plan.fallback->reason),
                        sentence(plan.fallback->reason),
                        plan.fallback->detail);
  }
  text +=
      fmt::format("workspace        {}\n", human_bytes(static_cast<double>(plan.workspace_bytes)));
  if (!plan.accumulate.empty()) {
    text += fmt::format("accumulate       {}{}\n",
                        plan.accumulate,
                        plan.accumulate_reason.empty() ? "" : ": " + plan.accumulate_reason);
  }
  for (const std::string& note : plan.notes) text += fmt::format("note             {}\n", note);
  for (std::size_t i = 0; i < plan.stages.size(); ++i) text += stage_text(plan.stages[i], i);
  if (!plan.otherwise.empty()) {
    text += fmt::format("otherwise        where {}, with the same bits:\n", plan.otherwise_when);
    for (const StagePlan& stage : plan.otherwise)
      text += fmt::format("                 {} (built in), {}\n", stage.entry, stage.tile);
  }
  return text;
}

}  // namespace

int explain(const PlanOptions& options) {
  Service service(options_of(options));
  const Plan plan = planned(options, service);
  print(options.json ? plan.json(2) + "\n" : plan_text(plan));
  return kDone;
}

int emit(const PlanOptions& options) {
  Service service(options_of(options));
  const Plan plan = planned(options, service);
  const auto stage = static_cast<std::size_t>(options.stage);
  if (stage < plan.stages.size() && plan.stages[stage].origin == Origin::embedded) {
    throw Error(ErrorCode::unavailable,
                fmt::format("{} on {} takes the composed route, and its kernel {} is compiled when "
                            "kiln is built; no "
                            "source is emitted ({})",
                            plan.signature.text(),
                            plan.arch.text(),
                            stage,
                            plan.fallback ? plan.fallback->detail : ""));
  }
  if (stage >= plan.stages.size()) {
    throw Error(
        ErrorCode::invalid_signature,
        fmt::format(
            "--stage {}: the plan has {} kernel(s), numbered from 0", stage, plan.stages.size()));
  }
  const std::string source = service.source(plan.signature, plan.arch, stage);
  print(options.json ? source_document(plan, stage, source) : source);
  return kDone;
}

}  // namespace kiln::cli
