// Uses the installed library: plans for an architecture and prepares, with no GPU, no compiler and
// no cache.
// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>

#include <kiln/error.hpp>
#include <kiln/rms_norm_backward.hpp>
#include <kiln/service.hpp>

int main() {
  try {
    kiln::Options options;
    options.policy.disable_jit = true;  // and no cache folder: only the embedded kernels are left
    kiln::Service service(options);
    const kiln::Signature signature = kiln::RmsNormBackward{.n = 4096}.signature();
    const auto arch = kiln::Arch::parse("sm_90a");

    const kiln::Plan fused = service.plan(signature, arch);
    const kiln::Prepared prepared = service.prepare(signature, arch);
    const kiln::Plan& plan = prepared.plan();
    std::cout << kiln::version() << ' ' << plan.signature.text() << ' ' << to_string(fused.route)
              << ", without a compiler " << to_string(plan.route) << '\n';
    if (plan.route != kiln::Route::composed || !plan.fallback) return 1;
    if (plan.fallback->reason != kiln::FallbackReason::jit_disabled) return 1;
    for (const kiln::StagePlan& stage : plan.stages) {
      if (stage.origin != kiln::Origin::embedded) return 1;
    }
  } catch (const std::exception& error) {
    std::cerr << "unexpected: " << error.what() << '\n';
    return 1;
  }
  // Exceptions of the library are caught by type across its boundary.
  try {
    static_cast<void>(kiln::Signature::parse("no_such_op:n=1"));
  } catch (const kiln::Error& error) {
    return error.code == kiln::ErrorCode::unknown_op ? 0 : 1;
  }
  return 1;
}
