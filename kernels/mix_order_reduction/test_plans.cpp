// Plans at random: every op, width, mix of types and architecture.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <variant>

#include <fmt/format.h>

#include <kiln/described_op.hpp>
#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/op.hpp"
#include "src/cuda/nvrtc.hpp"
#include "src/cuda/toolchain.hpp"
#include "tests/random_signatures.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
namespace mix = kiln::mix_order_reduction;
using kiln::testing::random_signature;
using kiln::testing::soaking;

constexpr std::int64_t kWidest = 262'144;

Policy many_stages() {
  Policy policy;
  policy.allow_multi_stages = true;
  return policy;
}

const Family& family() { return find_family("rms_norm_backward"); }

bool fits(const StagePlan& stage, const DeviceLimits& limits) {
  const std::int64_t reserved = limits.smem_reserved_per_cta_bytes;
  const PipelineChoice& pipeline = stage.pipeline;
  return stage.smem_bytes <= limits.smem_per_cta_bytes &&
         (stage.smem_bytes + reserved) * stage.ctas_per_sm <= limits.smem_per_sm_bytes &&
         stage.threads * stage.ctas_per_sm <= limits.threads_per_sm &&
         stage.register_budget * stage.threads * stage.ctas_per_sm <= limits.registers_per_sm &&
         pipeline.chosen >= 1 && pipeline.chosen <= pipeline.asked &&
         pipeline.chosen <= pipeline.cap && pipeline.chosen <= pipeline.fits;
}

TEST_CASE("every plan fits the device, for any op, width, types and architecture") {
  std::mt19937 random(7);
  const int signatures = soaking() ? 20'000 : 1'000;
  int plans = 0, refused = 0;
  for (int i = 0; i < signatures; ++i) {
    const Signature signature = random_signature(family(), kWidest, random);
    const std::int64_t n = signature.integer("n");
    for (const DeviceLimits& limits : known_limits()) {
      const PlanResult result = mix::plan(signature, limits, i % 2 == 0 ? Policy{} : many_stages());
      CAPTURE(signature.text(), limits.arch.text());
      ++plans;
      if (const auto* rejection = std::get_if<Rejection>(&result)) {
        REQUIRE(rejection->reason == FallbackReason::unsupported_size);
        REQUIRE_FALSE(mix::compose(signature, limits, {rejection->reason, ""}).stages.empty());
        ++refused;
        // Of what one CTA or a cluster could hold, only where so many matrices are too much: four
        // of f32 for 99 KiB, or two norms' sums.
        const mix::Op op = mix::Op::from(signature);
        const bool many = op.shape.matrices.size() >= 4;
        const bool wide = n > (limits.max_cluster_ctas > 0 ? mix::kMaxFusedColumns : 4096);
        REQUIRE((wide || many));
        if (!wide && limits.smem_per_cta_bytes > 200'000) REQUIRE(n > 8192);
        continue;
      }
      REQUIRE(n <= mix::kMaxFusedColumns);
      REQUIRE(fits(std::get<Plan>(result).stages.at(0), limits));
    }
  }
  CHECK(plans == signatures * static_cast<int>(known_limits().size()));
  CHECK(refused < plans / 2);
}

// What fits; of those that fit, a plan may take fewer (useful_stages).
TEST_CASE("more shared memory never means fewer stages") {
  std::mt19937 random(11);
  for (int i = 0; i < (soaking() ? 5'000 : 500); ++i) {
    const Signature signature = random_signature(family(), mix::kMaxFusedColumns, random);
    DeviceLimits limits = limits_of(Arch::parse("sm_90a"));
    int before = 0;
    for (int kib = 64; kib <= 227; kib += 9) {
      limits.smem_per_cta_bytes = kib * 1024;
      limits.smem_per_sm_bytes = (kib + 1) * 1024;
      const PlanResult result = mix::plan(signature, limits, many_stages());
      const auto* plan = std::get_if<Plan>(&result);
      const int stages = plan == nullptr ? 0 : plan->stages[0].pipeline.fits;
      CAPTURE(signature.text(), kib);
      REQUIRE(std::min(stages, 2) >= std::min(before, 2));
      before = stages;
    }
  }
}

Nvrtc compiler() {
  const ToolchainSearch search = find_toolchain(Policy::from_env(), {}, std::nullopt);
  if (!search.found) throw missing_toolchain(search);
  return Nvrtc::load(*search.found);
}

void check_no_spill(const Nvrtc& nvrtc, const Plan& plan, const DeviceLimits& limits) {
  const Closure closure = close_includes(mix::emit(plan, 0), embedded_files());
  const CompileOptions options = CompileOptions::standard();
  const CompileResult out =
      compile(nvrtc, {.closure = closure, .options = options, .arch = limits.arch, .seed = "0"});
  INFO(plan.signature.text() << " for " << limits.arch.text() << ", " << out.cubin.registers
                             << " registers; " << plan.notes.at(1));
  CHECK(out.cubin.spill_bytes <= 0);  // -1: not known
}

TEST_CASE("matrices that only the output needs are counted: a described op of eight") {
  std::string inputs, sum = "a0 * total";
  for (int i = 0; i < 8; ++i) {
    inputs +=
        fmt::format(R"({}{{"name": "a{}", "shape": "matrix", "type": "x"}})", i ? "," : "", i);
    if (i > 0) sum += fmt::format(" + a{}", i);
  }
  register_op(fmt::format(R"json({{"version": 1, "op": "sum_of_eight", "inputs": [{}],
"formula": ["total = row_sum(a0)", "y = {}", "c = column_sum(a0)"],
"outputs": [{{"name": "y", "shape": "matrix", "type": "x"}}, {{"name": "c", "shape": "row", "type": "x"}}]}})json",
                          inputs,
                          sum),
              "test");
  const Nvrtc nvrtc = compiler();
  const DeviceLimits& limits = limits_of(Arch::parse("sm_90a"));
  for (const char* text :
       {"sum_of_eight:n=8192", "sum_of_eight:n=2048,x=f32", "sum_of_eight:n=128"}) {
    const PlanResult result = mix::plan(Signature::parse(text), limits, {});
    REQUIRE(std::holds_alternative<Plan>(result));
    check_no_spill(nvrtc, std::get<Plan>(result), limits);
  }
}

TEST_CASE("plans at random compile without spills") {
  const Nvrtc nvrtc = compiler();
  std::mt19937 random(13);
  const auto& all = known_limits();
  int compiled = 0;
  for (int i = 0; compiled < (soaking() ? 500 : 8); ++i) {
    const Signature signature = random_signature(family(), mix::kMaxFusedColumns, random);
    // Hopper half of the time.
    const DeviceLimits& limits = i % 2 == 0 ? limits_of(Arch::parse("sm_90a"))
                                            : all[static_cast<std::size_t>(i / 2) % all.size()];
    const PlanResult result = mix::plan(signature, limits, i % 3 == 0 ? many_stages() : Policy{});
    const auto* plan = std::get_if<Plan>(&result);
    if (plan == nullptr) continue;
    check_no_spill(nvrtc, *plan, limits);
    ++compiled;
  }
}

}  // namespace
