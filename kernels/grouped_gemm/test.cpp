// What the family promises beyond the conformance suite: plans for any shape, tile classes by rows,
// arguments refused, tensor maps that lie inside the tensors.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <functional>
#include <random>
#include <string>

#include <kiln/error.hpp>
#include <kiln/grouped_gemm.hpp>

#include "kernels/grouped_gemm/op.hpp"
#include "kernels/grouped_gemm/parameters.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
namespace gg = kiln::grouped_gemm;

const DeviceLimits& hopper() { return limits_of(Arch::parse("sm_90a")); }

Plan fused(const std::string& signature) {
  return std::get<Plan>(gg::plan(Signature::parse(signature), hopper(), {}));
}

// An address that looks like device memory and is never read.
void* address(std::uintptr_t gibibyte, std::uintptr_t bytes = 0) {
  return reinterpret_cast<void*>((std::uintptr_t{1} << 40) + (gibibyte << 30) + bytes);
}

LaunchContext context() {
  LaunchContext result{.sm_count = 132};
  result.clusters.fill(66);
  result.counters = address(900);
  return result;
}

CallList bound(const Plan& plan, const Arguments& arguments) {
  CallList calls;
  gg::bind(plan, arguments, context(), calls);
  return calls;
}

gg::HopperParameters parameters(const KernelCall& call) {
  gg::HopperParameters result;
  std::memcpy(&result, call.parameters.data(), sizeof result);
  return result;
}

const GroupedGemmForward kForward{.n = 512, .k = 384};
GroupedGemmForward::Arguments forward_arguments() {
  return {.rows = 1000,
          .x = address(1),
          .w = address(2),
          .offsets = {.offs = static_cast<const int*>(address(3)), .groups = 4},
          .y = address(4)};
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_string(error.code)) + ": " + error.detail;
  }
  return "";
}

TEST_CASE("n and k that are no multiples of 8 are refused, with what to pad to") {
  for (const std::string op : {"forward", "dgrad", "wgrad"}) {
    const std::string said =
        refusal([&] { (void)Signature::parse("grouped_gemm_" + op + ":n=512,k=380"); });
    CHECK_THAT(said, testing::contains("k=380 is not a multiple of 8"));
    CHECK_THAT(said, testing::contains("pad to k=384"));
  }
}

TEST_CASE("every shape has a plan on Hopper, and the portable route elsewhere") {
  std::mt19937 random(11);
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int i = 0; i < 2000; ++i) {
    const auto width = [&] { return std::to_string(8 * (1 + pick(1 << (1 + pick(14))))); };
    const int op = pick(3);
    const std::string names[] = {"forward", "dgrad", "wgrad"};
    std::string text = "grouped_gemm_" + names[op] + ":n=" + width() + ",k=" + width() +
                       (pick(2) == 0 ? ",out=f32" : "");
    if (op == 2 && pick(2) == 0) text += ",accumulate=1";
    if (pick(3) == 0) text += ",rows=" + std::to_string(pick(5000));
    CAPTURE(text);
    const Signature signature = Signature::parse(text);
    for (const DeviceLimits& limits : known_limits()) {
      const PlanResult result = gg::plan(signature, limits, {});
      if (const auto* rejection = std::get_if<Rejection>(&result)) {
        REQUIRE(limits.arch.text() != "sm_90a");
        REQUIRE(rejection->reason == FallbackReason::unsupported_arch);
        continue;
      }
      const Plan& plan = std::get<Plan>(result);
      REQUIRE(plan.stages.size() <= 3);
      for (const StagePlan& stage : plan.stages) {
        REQUIRE(stage.smem_bytes <= limits.smem_per_cta_bytes);
        // A tile of accumulators and its addresses must fit the registers.
        REQUIRE(stage.constant("tile_columns") / 2 + 60 <= gg::kConsumerRegisters);
      }
      REQUIRE(plan.stages.back().constant("from_mean_rows") == 0);
    }
  }
}

TEST_CASE("adding changes the last store of a plan and nothing that orders a sum") {
  const Plan plain = fused("grouped_gemm_wgrad:n=4096,k=7168,out=f32");
  const Plan adding = fused("grouped_gemm_wgrad:n=4096,k=7168,out=f32,accumulate=1");
  for (const StagePlan& stage : adding.stages) {
    CHECK(stage.entry.substr(stage.entry.size() - 4) == "_acc");
    for (const char* name : {"tile_rows", "tile_columns", "tile_depth", "cluster_ctas", "band"})
      CHECK(stage.constant(name) == plain.stages[0].constant(name));
  }
}

TEST_CASE("a plan says whether and how it adds, on both routes") {
  const auto routes = [](const std::string& text) {
    const Signature signature = Signature::parse(text);
    return std::array{fused(text).accumulate, gg::compose(signature, hopper(), {}).accumulate};
  };
  using Both = std::array<std::string, 2>;
  CHECK(routes("grouped_gemm_wgrad:n=64,k=64,accumulate=1") == Both{"fused", "fused"});
  CHECK(routes("grouped_gemm_wgrad:n=64,k=64") == Both{"off", "off"});
  CHECK(routes("grouped_gemm_forward:n=64,k=64") == Both{"", ""});
  const std::string json = fused("grouped_gemm_wgrad:n=64,k=64,accumulate=1").json();
  CHECK_THAT(json, testing::contains(R"("accumulate":"fused","accumulate_reason":null)"));
  CHECK(fused("grouped_gemm_forward:n=64,k=64").json().find("accumulate") == std::string::npos);
}

TEST_CASE("bind picks the tile class by the mean rows of a group, or the signature does") {
  const std::string text = "grouped_gemm_wgrad:n=512,k=384,out=f32,accumulate=1";
  const Plan both = fused(text);
  REQUIRE(both.stages.size() == 2);
  const GroupedGemmWgrad op{.n = 512, .k = 384, .out = DType::f32, .accumulate = true};
  const auto stage_for = [&](std::int64_t rows) {
    return bound(both,
                 op.arguments({.rows = rows,
                               .g = address(1),
                               .x = address(2),
                               .offsets = {static_cast<const int*>(address(3)), 4},
                               .dw = address(4)}))
        .calls[0]
        .stage;
  };
  const std::int64_t threshold = both.stages[0].constant("from_mean_rows");
  CHECK(stage_for(4 * threshold) == 0);
  CHECK(stage_for(4 * threshold - 1) == 1);
  CHECK(stage_for(0) == 1);
  const Plan deep = fused(text + ",rows=" + std::to_string(threshold));
  const Plan shallow = fused(text + ",rows=" + std::to_string(threshold - 1));
  REQUIRE(deep.stages.size() == 1);
  REQUIRE(shallow.stages.size() == 1);
  CHECK(deep.stages[0].entry == both.stages[0].entry);
  CHECK(shallow.stages[0].entry == both.stages[1].entry);
}

TEST_CASE("a launch fits the clusters that are resident, and the SMs it may use") {
  const Plan plan = fused(kForward.signature().text());
  LaunchContext some = context();
  for (const auto& [sms, clusters, expected] :
       {std::array{132, 66, 132}, std::array{132, 60, 120}, std::array{1, 66, 2}}) {
    some.sm_count = sms;
    some.clusters.fill(clusters);
    CallList calls;
    gg::bind(plan, kForward.arguments(forward_arguments()), some, calls);
    CHECK(calls.calls[0].grid[0] == static_cast<unsigned>(expected));
  }
}

TEST_CASE("a kernel without clusters, of which the driver counts none, fills the SMs") {
  Policy policy;
  policy.candidate = "t128x128_c1_b8";
  const Plan plan = std::get<Plan>(gg::plan(kForward.signature(), hopper(), policy));
  LaunchContext some = context();
  some.clusters.fill(0);
  CallList calls;
  gg::bind(plan, kForward.arguments(forward_arguments()), some, calls);
  CHECK(calls.calls[0].grid[0] == 132);
}

TEST_CASE("tensor maps describe the tensors, strides and all") {
  const Plan plan = fused(kForward.signature().text());
  auto arguments = forward_arguments();
  arguments.x_stride = 400;
  arguments.y_stride = 520;
  const CallList calls = bound(plan, kForward.arguments(arguments));
  REQUIRE(calls.count == 1);
  const KernelCall& call = calls.calls[0];
  REQUIRE(call.tensor_map_count == 3);
  const TensorMapRequest& x = call.tensor_maps[0];
  CHECK(x.offset == offsetof(gg::HopperParameters, a));
  CHECK(x.data == address(1));
  CHECK(x.shape == std::array<std::uint64_t, 3>{384, 1000, 1});
  CHECK(x.strides[0] == 800);
  const TensorMapRequest& w = call.tensor_maps[1];
  CHECK(w.rank == 3);
  CHECK(w.shape == std::array<std::uint64_t, 3>{384, 512, 4});
  CHECK(w.strides == std::array<std::uint64_t, 2>{768, 768 * 512});
  const TensorMapRequest& y = call.tensor_maps[2];
  CHECK(y.data == address(4));
  CHECK(y.strides[0] == 1040);
  CHECK(y.box[0] == 64);
  const gg::HopperParameters p = parameters(call);
  CHECK(p.aligned == 1);
  CHECK(p.output_stride == 520);
  CHECK(p.ends == address(3));
}

TEST_CASE("offsets with a leading zero are read behind it") {
  auto arguments = forward_arguments();
  arguments.offsets.leading_zero = true;
  const CallList calls = bound(fused(kForward.signature().text()), kForward.arguments(arguments));
  CHECK(parameters(calls.calls[0]).ends == address(3, 4));
}

TEST_CASE("an output at any element is served, without the copy engine") {
  for (const std::uintptr_t shift : {2, 4, 14}) {
    auto arguments = forward_arguments();
    arguments.y = address(4, shift);
    const CallList calls = bound(fused(kForward.signature().text()), kForward.arguments(arguments));
    CHECK(parameters(calls.calls[0]).aligned == 0);
    CHECK(calls.calls[0].tensor_maps[2].data == address(1));
  }
  auto arguments = forward_arguments();
  arguments.y_stride = 513;
  const CallList calls = bound(fused(kForward.signature().text()), kForward.arguments(arguments));
  CHECK(parameters(calls.calls[0]).aligned == 0);
}

TEST_CASE("no rows: nothing to launch, but a weight gradient of zeros") {
  auto none = forward_arguments();
  none.rows = 0;
  none.x = none.y = nullptr;
  CHECK(bound(fused(kForward.signature().text()), kForward.arguments(none)).count == 0);
  const GroupedGemmWgrad op{.n = 512, .k = 384};
  const CallList calls =
      bound(fused(op.signature().text()),
            op.arguments({.offsets = {static_cast<const int*>(address(3)), 4}, .dw = address(4)}));
  REQUIRE(calls.count == 1);
  for (int i = 0; i < 2; ++i) {  // maps that nothing is read through, but must be encodable
    CHECK(calls.calls[0].tensor_maps[static_cast<std::size_t>(i)].data != nullptr);
    CHECK(calls.calls[0].tensor_maps[static_cast<std::size_t>(i)].shape[1] == 1);
  }
}

TEST_CASE("arguments the kernels cannot serve are refused on both routes, and say why") {
  struct Fault {
    const char* said;
    std::function<void(GroupedGemmForward::Arguments&)> apply;
  };
  const std::array faults{
      Fault{"x is at", [](auto& a) { a.x = address(1, 8); }},
      Fault{"w is at", [](auto& a) { a.w = address(2, 2); }},
      Fault{"x has stride 385", [](auto& a) { a.x_stride = 385; }},
      Fault{"w has stride", [](auto& a) { a.w_stride = 388; }},
      Fault{"x has row stride 383", [](auto& a) { a.x_stride = 383; }},
      Fault{"y has row stride 100", [](auto& a) { a.y_stride = 100; }},
      Fault{"1 to 1024 are served", [](auto& a) { a.offsets.groups = 0; }},
      Fault{"1 to 1024 are served", [](auto& a) { a.offsets.groups = 1025; }},
      Fault{"offs is a null pointer", [](auto& a) { a.offsets.offs = nullptr; }},
      Fault{"offs is at", [](auto& a) { a.offsets.offs = static_cast<const int*>(address(3, 2)); }},
      Fault{"y overlaps the input x", [](auto& a) { a.y = address(1, 128); }},
      Fault{"y overlaps the input w", [](auto& a) { a.y = address(2); }},
      Fault{"y overlaps the input offs", [](auto& a) { a.y = address(3); }},
      Fault{"rows; 0 to", [](auto& a) { a.rows = std::int64_t{1} << 31; }},
      Fault{"rows; 0 to", [](auto& a) { a.rows = -1; }},
  };
  const Plan plans[] = {fused(kForward.signature().text()),
                        gg::compose(kForward.signature(), hopper(), {})};
  for (const Plan& plan : plans) {
    for (const Fault& fault : faults) {
      auto arguments = forward_arguments();
      fault.apply(arguments);
      const std::string said = refusal([&] { (void)bound(plan, kForward.arguments(arguments)); });
      CAPTURE(to_string(plan.route), fault.said, said);
      CHECK(said.rfind("invalid_argument: grouped_gemm_forward", 0) == 0);
      CHECK_THAT(said, testing::contains(fault.said));
    }
  }
}

TEST_CASE("a weight gradient whose groups are not dense, or overlap, is refused") {
  const GroupedGemmWgrad op{.n = 64, .k = 128, .out = DType::f32};
  const GroupedGemmWgrad::Arguments good{.rows = 100,
                                         .g = address(1),
                                         .x = address(2),
                                         .offsets = {static_cast<const int*>(address(3)), 4},
                                         .dw = address(4)};
  const Plan plan = fused(op.signature().text());
  for (const std::int64_t stride : {64 * 128 - 8, 64 * 128 + 8}) {
    Arguments arguments = op.arguments(good);
    arguments.tensors[3].strides[0] = stride;
    const std::string said = refusal([&] { (void)bound(plan, arguments); });
    CHECK_THAT(said, testing::contains("dw has group stride " + std::to_string(stride)));
  }
}

}  // namespace
