// Doing one warm job.
// SPDX-License-Identifier: Apache-2.0
#include "tools/warm/outcome.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include <kiln/error.hpp>

namespace kiln::cli {
namespace {

void describe(const Plan& plan, Outcome& outcome) {
  outcome.route = to_string(plan.route);
  if (plan.fallback) {
    // Nothing was compiled, though it could have been: for whoever warms a cache that is a failure.
    const FallbackReason reason = plan.fallback->reason;
    // KILN_DISABLE_JIT=1 is asked for: then warming only says what is there.
    if (forced_by_environment(reason) && reason != FallbackReason::jit_disabled) {
      outcome.error_code = to_string(plan.fallback->reason);
      outcome.error = plan.fallback->detail;
    }
    outcome.reason = to_string(plan.fallback->reason);
    outcome.reason_detail = plan.fallback->detail;
  }
  for (const StagePlan& stage : plan.stages) {
    const std::int64_t static_bytes = std::max<std::int64_t>(stage.static_smem_bytes, 0);
    outcome.kernels.push_back({stage.tile,
                               stage.pipeline.chosen,
                               stage.smem_bytes + static_bytes,
                               stage.registers,
                               stage.compile_ms,
                               stage.digest,
                               std::string(to_string(stage.origin))});
  }
  outcome.plan_json = plan.json();
}

}  // namespace

bool Outcome::compiled() const noexcept {
  return std::any_of(kernels.begin(), kernels.end(), [](const KernelRow& row) {
    return row.origin == "compiled";
  });
}

Outcome do_job(Service& service, const Job& job, std::size_t index) noexcept {
  Outcome outcome;
  outcome.job = index;
  outcome.signature = job.signature.text();
  outcome.arch = job.arch.text();
  const auto start = std::chrono::steady_clock::now();
  try {
    describe(service.prepare(job.signature, job.arch).plan(), outcome);
  } catch (const Error& error) {
    outcome.error_code = to_string(error.code);
    outcome.error = error.detail;
  } catch (const std::exception& error) {
    outcome.error_code = to_string(ErrorCode::internal);
    outcome.error = error.what();
  }
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
  outcome.milliseconds = passed.count();
  outcome.nvrtc_loaded = service.statistics().nvrtc_loaded;
  return outcome;
}

}  // namespace kiln::cli
