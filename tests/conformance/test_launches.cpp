// Conformance of every family's composed plans, launches and references: what needs neither
// compiler nor GPU.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include <kiln/error.hpp>

#include "src/service/composed_images.hpp"
#include "tests/conformance/cases.hpp"
#include "tests/testing.hpp"

namespace kiln::conformance {
namespace {

const Fallback kForced{FallbackReason::forced, "the conformance suite asks for it"};

Plan composed(const Case& c, const DeviceLimits& limits) {
  return c.family->compose(c.signature, limits, kForced);
}

// Addresses that look like device memory and are never read: one gibibyte apart.
Arguments arguments_of(const Problem& problem) {
  Arguments arguments;
  std::uintptr_t address = std::uintptr_t{1} << 40;
  for (const TensorSpec& spec : problem.tensors) {
    Tensor tensor{spec.name, reinterpret_cast<void*>(address), spec.type};
    std::int64_t stride = 1;
    for (std::size_t i = spec.shape.size(); i-- > 0; stride *= spec.shape[i]) {
      tensor.shape[i] = spec.shape[i];
      tensor.strides[i] = stride;
    }
    tensor.rank = static_cast<int>(spec.shape.size());
    if (spec.shape.empty()) tensor = scalar(spec.name, 0.5);
    arguments.add(tensor);
    address += std::uintptr_t{1} << 30;
  }
  return arguments;
}

void check_calls(const Case& c, const Plan& plan, std::int64_t rows, int sm_count) {
  INFO(c.text() << ", " << to_string(plan.route) << ", " << rows << " rows, " << sm_count
                << " SMs");
  const Problem problem = c.family->problem(c.signature, rows);
  LaunchContext context{.sm_count = sm_count};
  const std::size_t kernels = plan.stages.size() + plan.otherwise.size();
  REQUIRE(kernels <= context.clusters.size());
  for (std::size_t i = 0; i < kernels; ++i)
    context.clusters[i] = plan.kernel(i).cluster_ctas > 1 ? sm_count : 0;  // as the engine asks
  context.workspace = reinterpret_cast<void*>(std::uintptr_t{1} << 44);
  context.workspace_bytes = plan.workspace_bytes;
  context.counters = reinterpret_cast<void*>(std::uintptr_t{1} << 45);
  CallList calls;
  c.family->bind(plan, arguments_of(problem), context, calls);
  if (rows > 0) CHECK(calls.count > 0);
  for (int i = 0; i < calls.count; ++i) {
    const KernelCall& call = calls.calls[static_cast<std::size_t>(i)];
    REQUIRE(call.stage >= 0);
    REQUIRE(static_cast<std::size_t>(call.stage) < kernels);
    const StagePlan& stage = plan.kernel(static_cast<std::size_t>(call.stage));
    CHECK(call.threads == static_cast<unsigned>(stage.threads));
    CHECK(call.smem_bytes == stage.smem_bytes);
    CHECK(call.cluster_ctas == static_cast<unsigned>(stage.cluster_ctas));
    CHECK(call.parameter_bytes > 0);
    CHECK(*std::min_element(call.grid.begin(), call.grid.end()) > 0);
    CHECK(call.grid[1] <= 65'535);
    CHECK(call.grid[2] <= 65'535);
    CHECK(call.grid[0] % call.cluster_ctas == 0);
    // One cluster is the least, however few SMs are allowed.
    if (call.cooperative)
      CHECK(call.grid[0] <=
            std::max(call.cluster_ctas, static_cast<unsigned>(sm_count * stage.ctas_per_sm)));
  }
}

TEST_CASE("every sample has a composed plan on every architecture, with the reason it was given") {
  for (const Case& c : cases()) {
    for (const DeviceLimits& limits : known_limits()) {
      INFO(c.text() << " on " << limits.arch.text());
      const Plan plan = composed(c, limits);
      CHECK(plan == composed(c, limits));
      CHECK(plan.route == Route::composed);
      CHECK(plan.fallback == kForced);
      CHECK(plan.family == c.family->name);
      CHECK(plan.signature == c.signature);
      REQUIRE_FALSE(plan.stages.empty());
      for (const StagePlan& stage : plan.stages) {
        CHECK(stage.smem_bytes <= limits.smem_per_cta_bytes);
        CHECK(stage.threads <= limits.threads_per_cta);
        CHECK(stage.threads > 0);
      }
    }
  }
}

TEST_CASE(
    "every kernel of every composed plan is embedded, without spills, for every architecture") {
  for (const Case& c : cases()) {
    for (const DeviceLimits& limits : known_limits()) {
      const ComposedImage* image = find_composed(c.family->name, limits.arch);
      INFO(c.text() << " on " << limits.arch.text());
      REQUIRE(image != nullptr);
      CHECK_FALSE(image->bytes.empty());
      std::vector<StagePlan> stages = composed(c, limits).stages;
      if (const std::optional<Plan> plan = c.fused(limits))
        stages.insert(stages.end(), plan->otherwise.begin(), plan->otherwise.end());
      for (const StagePlan& stage : stages) {
        INFO("entry " << stage.entry);
        const auto entry =
            std::find_if(image->entries.begin(), image->entries.end(), [&](const ComposedEntry& e) {
              return e.name == stage.entry;
            });
        REQUIRE(entry != image->entries.end());
        CHECK(entry->spill_bytes <= 0);  // -1: PTX, not known before the driver compiles it
      }
    }
  }
}

TEST_CASE("every plan of either route binds any number of rows") {
  const DeviceLimits& limits = limits_of(Arch::parse("sm_90a"));
  for (const Case& c : cases()) {
    for (const std::int64_t rows : {0, 1, 7, 1000}) {
      for (const int sm_count : {1, 132}) {
        check_calls(c, composed(c, limits), rows, sm_count);
        if (const std::optional<Plan> plan = c.fused(limits)) check_calls(c, *plan, rows, sm_count);
      }
    }
  }
}

TEST_CASE("an argument that is missing, null or of another type is refused") {
  const DeviceLimits& limits = limits_of(Arch::parse("sm_90a"));
  for (const Case& c : cases()) {
    const Problem problem = c.family->problem(c.signature, 5);
    const Plan plan = composed(c, limits);
    LaunchContext context{.sm_count = 132};
    context.workspace = reinterpret_cast<void*>(std::uintptr_t{1} << 44);
    context.workspace_bytes = plan.workspace_bytes;
    context.counters = reinterpret_cast<void*>(std::uintptr_t{1} << 45);
    for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
      INFO(c.text() << ", tensor " << problem.tensors[i].name);
      const auto bind_with = [&](auto change) {
        Arguments arguments = arguments_of(problem);
        change(arguments.tensors[i]);
        CallList calls;
        c.family->bind(plan, arguments, context, calls);
      };
      CHECK_THROWS_AS(bind_with([](Tensor& tensor) { tensor.name = "no_such_tensor"; }), Error);
      CHECK_THROWS_AS(bind_with([](Tensor& tensor) {
                        tensor.type = tensor.type == DType::i32 ? DType::f32 : DType::i32;
                      }),
                      Error);
      CHECK_THROWS_AS(bind_with([](Tensor& tensor) { tensor.rank = 4; }), Error);
      if (problem.tensors[i].shape.empty()) continue;  // a number has neither address nor shape
      CHECK_THROWS_AS(bind_with([](Tensor& tensor) { tensor.data = nullptr; }), Error);
      // Not by one: offsets may have a leading zero.
      CHECK_THROWS_AS(bind_with([](Tensor& tensor) { tensor.shape[0] += 3; }), Error);
    }
  }
}

TEST_CASE("every reference gives each output finite values and positive bounds") {
  for (const Case& c : cases()) {
    INFO(c.text());
    const std::int64_t rows = 3;
    const Problem problem = c.family->problem(c.signature, rows);
    CHECK(problem.floor_bytes > 0);
    std::vector<HostTensor> inputs;
    std::set<std::string> outputs;
    for (const TensorSpec& spec : problem.tensors) {
      std::int64_t size = 1;
      for (const std::int64_t extent : spec.shape) size *= extent;
      if (spec.role != Role::output) {
        inputs.push_back({spec.name,
                          spec.shape,
                          spec.values.empty()
                              ? std::vector<double>(static_cast<std::size_t>(size), 0.5)
                              : spec.values});
      }
      if (spec.role != Role::input) outputs.insert(spec.name);
    }
    for (const Expected& expected : c.family->reference(c.signature, rows, inputs)) {
      INFO("output " << expected.name);
      CHECK(outputs.erase(expected.name) == 1);
      CHECK_FALSE(expected.values.empty());
      REQUIRE(expected.values.size() == expected.bounds.size());
      CHECK(std::all_of(expected.values.begin(), expected.values.end(), [](double v) {
        return std::isfinite(v);
      }));
      CHECK(std::all_of(expected.bounds.begin(), expected.bounds.end(), [](double b) {
        return std::isfinite(b) && b > 0;
      }));
    }
    CHECK(outputs.empty());
  }
}

}  // namespace
}  // namespace kiln::conformance
