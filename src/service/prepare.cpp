// What a signature becomes on a target: the fused plan, or the composed one with the reason.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/service/engine.hpp"

namespace kiln {
namespace {

// Why composed kernels run when the environment stopped the fused one; nothing when the error is
// not of that kind.
std::optional<FallbackReason> reason_of(ErrorCode code) {
  if (code == ErrorCode::jit_disabled) return FallbackReason::jit_disabled;
  if (code == ErrorCode::nvrtc_missing) return FallbackReason::nvrtc_missing;
  if (code == ErrorCode::compile_failed) return FallbackReason::compile_failed;
  if (code == ErrorCode::load_failed) return FallbackReason::load_failed;
  if (code == ErrorCode::out_of_memory) return FallbackReason::out_of_memory;
  return std::nullopt;
}

void fill_embedded(std::vector<StagePlan>& stages, const ComposedImage& image) {
  for (StagePlan& stage : stages) {
    const auto entry =
        std::find_if(image.entries.begin(), image.entries.end(), [&](const ComposedEntry& one) {
          return one.name == stage.entry;
        });
    if (entry == image.entries.end()) continue;  // compiled, as those of a described op
    stage.registers = entry->registers;
    stage.spill_bytes = entry->spill_bytes;
    stage.static_smem_bytes = entry->static_smem_bytes;
    stage.origin = Origin::embedded;
  }
}

}  // namespace

PreparedPointer Engine::build(const Signature& signature, const Target& target) {
  const Family& family = backends_.find_family(signature.op);
  Plan planned = plan(signature, target);
  if (planned.route == Route::composed) {
    log_.write(LogLevel::info,
               fmt::format("'{}' on {} takes the composed route: {}",
                           signature.text(),
                           target.limits.arch.text(),
                           planned.fallback->detail));
    return composed(family, std::move(planned), target);
  }
  try {
    return fused(family, std::move(planned), target);
  } catch (const Error& error) {
    const std::optional<FallbackReason> reason = reason_of(error.code);
    if (!reason) throw;
    return fall_back(family, signature, target, {*reason, error.detail});
  }
}

Plan Engine::plan(const Signature& signature, const Target& target) const {
  const Family& family = backends_.find_family(signature.op);
  if (options_.route == RouteChoice::composed) {
    return compose(family, signature, target, {FallbackReason::forced, "the caller asked for it"});
  }
  if (!target.known_arch) {
    return compose(family,
                   signature,
                   target,
                   {FallbackReason::unsupported_arch,
                    fmt::format("kiln has no table entry for {}", target.limits.arch.text())});
  }
  PlanResult result = family.plan(signature, target.limits, policy_for(signature, target));
  if (auto* rejection = std::get_if<Rejection>(&result)) {
    return compose(family, signature, target, {rejection->reason, std::move(rejection->detail)});
  }
  Plan fused = std::get<Plan>(std::move(result));
  if (const ComposedImage* image = backends_.find_composed(family.name, target.limits.arch))
    fill_embedded(fused.otherwise, *image);
  return fused;
}

std::vector<std::string> Engine::candidates(const Signature& signature, const Arch& arch) const {
  const Family& family = backends_.find_family(signature.op);
  if (family.candidates == nullptr) return {};
  return family.candidates(signature, limits_of(arch));
}

Policy Engine::policy_for(const Signature& signature, const Target& target) const {
  Policy policy = options_.policy;
  const bool forced = !policy.candidate.empty();
  if (!forced) policy.candidate = tuning_.candidate(signature.text(), target.limits.arch.text());
  if (policy.candidate.empty()) return policy;
  const Family& family = backends_.find_family(signature.op);
  std::vector<std::string> known;
  if (family.candidates != nullptr) known = family.candidates(signature, target.limits);
  if (std::find(known.begin(), known.end(), policy.candidate) != known.end()) return policy;
  const std::string what = fmt::format(
      "'{}' on {} has no candidate '{}'; there {}",
      signature.text(),
      target.limits.arch.text(),
      policy.candidate,
      known.empty() ? "are none to choose among" : fmt::format("are {}", fmt::join(known, ", ")));
  if (forced) throw Error(ErrorCode::invalid_argument, what);
  // A file of another version of kiln must not stop a program.
  log_.write(
      LogLevel::warn,
      fmt::format(
          "{}: {}. The planner chooses; 'kiln tune' anew", options_.policy.tuning_file, what));
  policy.candidate.clear();
  return policy;
}

Plan Engine::compose(const Family& family,
                     const Signature& signature,
                     const Target& target,
                     const Fallback& fallback) const {
  Plan plan = family.compose(signature, target.limits, fallback);
  if (const ComposedImage* image = backends_.find_composed(family.name, target.limits.arch)) {
    fill_embedded(plan.stages, *image);
  }
  return plan;
}

PreparedPointer Engine::fall_back(const Family& family,
                                  const Signature& signature,
                                  const Target& target,
                                  const Fallback& fallback) {
  const std::string text = fmt::format("'{}' on {}: {}: {} {}",
                                       signature.text(),
                                       target.limits.arch.text(),
                                       to_string(fallback.reason),
                                       sentence(fallback.reason),
                                       fallback.detail);
  if (options_.policy.strict && forced_by_environment(fallback.reason)) {
    throw Error(
        ErrorCode::forced_fallback,
        fmt::format("{}. KILN_STRICT forbids the composed kernels that would run instead", text));
  }
  log_.write(LogLevel::warn, fmt::format("composed kernels run for {}", text));
  return composed(family, compose(family, signature, target, fallback), target);
}

}  // namespace kiln
