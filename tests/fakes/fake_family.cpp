// Plans, sources and packed arguments of the fake family.
// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_family.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <kiln/error.hpp>

namespace kiln::fakes {
namespace {

constexpr std::int64_t kLargest = 1000;
constexpr std::int64_t kFusedSmemBytes = 64 * 1024;

StagePlan stage_of(std::string entry, std::int64_t smem_bytes) {
  StagePlan stage;
  stage.entry = std::move(entry);
  stage.threads = 128;
  stage.smem_bytes = smem_bytes;
  return stage;
}

Plan plan_of(const Signature& signature, const DeviceLimits& limits, StagePlan stage) {
  Plan plan;
  plan.family = "fake";
  plan.signature = signature;
  plan.arch = limits.arch;
  plan.workspace_bytes = kWorkspaceBytes;
  plan.stages.push_back(std::move(stage));
  return plan;
}

PlanResult plan(const Signature& signature, const DeviceLimits& limits, const Policy&) {
  const std::int64_t n = signature.integer("n");
  if (n > kLargest) return Rejection{FallbackReason::unsupported_size, "n is above 1000"};
  Plan made = plan_of(signature, limits, stage_of("fake_n" + std::to_string(n), kFusedSmemBytes));
  if (signature.value("tag") == std::to_string(kTagOtherwise)) {
    made.otherwise = {stage_of(std::string(kComposedEntry), 1024)};
    made.otherwise_when = "y starts off 16 bytes";
  }
  return made;
}

Source emit(const Plan& plan, std::size_t stage) {
  const std::string& entry = plan.stages.at(stage).entry;
  return {"extern \"C\" __global__ void " + entry + "() {}\n", entry};
}

Plan compose(const Signature& signature, const DeviceLimits& limits, const Fallback& fallback) {
  Plan plan = plan_of(signature, limits, stage_of(std::string(kComposedEntry), 1024));
  plan.route = Route::composed;
  plan.fallback = fallback;
  return plan;
}

void bind(const Plan& plan,
          const Arguments& arguments,
          const LaunchContext& context,
          CallList& calls) {
  const Tensor* x = arguments.find("x");
  const Tensor* y = arguments.find("y");
  // Half packed before it throws: a launch must not show it.
  KernelCall& call = calls.add();
  if (x == nullptr || y == nullptr) throw Error(ErrorCode::invalid_argument, "x and y are needed");
  const bool aligned = reinterpret_cast<std::uintptr_t>(y->data) % 16 == 0;
  call.stage = aligned || plan.otherwise.empty() ? 0 : static_cast<int>(plan.stages.size());
  const StagePlan& kernel = plan.kernel(static_cast<std::size_t>(call.stage));
  call.grid = {static_cast<unsigned>(x->shape[0]), 1, 1};
  call.threads = static_cast<unsigned>(kernel.threads);
  call.smem_bytes = kernel.smem_bytes;
  call.set_parameters(FakeParameters{.x = x->data,
                                     .y = y->data,
                                     .rows = x->shape[0],
                                     .workspace = context.workspace,
                                     .counters = context.counters,
                                     .sm_count = context.sm_count,
                                     .ctas_per_sm = context.ctas_per_sm[0]});
}

constexpr ComposedEntry kEntries[] = {
    {.name = kComposedEntry, .registers = 24, .spill_bytes = 0, .static_smem_bytes = 16}};
constexpr char kImageText[] = "composed";

}  // namespace

Signature fake_signature(int n, int tag) {
  return {"fake", {{"n", std::to_string(n)}, {"tag", std::to_string(tag)}}};
}

const Family& fake_family() {
  static const Family family{.name = "fake",
                             .emitter_version = 1,
                             .ops = [] { return std::vector<const OpSpec*>(); },
                             .plan = plan,
                             .emit = emit,
                             .compose = compose,
                             .bind = bind,
                             .problem = nullptr,
                             .reference = nullptr,
                             .samples = nullptr};
  return family;
}

const ComposedImage* fake_composed(std::string_view, const Arch& arch) noexcept {
  static const ComposedImage image{.family = "fake",
                                   .arch = {8, 0, '\0'},
                                   .ptx = true,
                                   .bytes = std::as_bytes(std::span(kImageText)),
                                   .entries = kEntries};
  return arch.major >= 8 ? &image : nullptr;
}

Arguments fake_arguments(void* x, void* y, std::int64_t rows) {
  Arguments arguments;
  arguments.add(matrix("x", x, DType::f32, rows, 8));
  arguments.add(matrix("y", y, DType::f32, rows, 8));
  return arguments;
}

}  // namespace kiln::fakes
