// layer_norm_backward: gradients that are left out, its typed front end, and what a launch is
// given.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <kiln/error.hpp>
#include <kiln/layer_norm_backward.hpp>

#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/parameters.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
namespace mix = kiln::mix_order_reduction;

TEST_CASE("either gradient of a layer norm may be left out") {
  const auto text = [](const std::string& keys) {
    return Signature::parse("layer_norm_backward:n=8," + keys).text();
  };
  CHECK(text("x=f16") ==
        "layer_norm_backward:accumulate=0,db=f16,dw=f16,n=8,residual=0,w=f16,x=f16");
  CHECK(Signature::parse("layer_norm_backward:n=8,dw=none").value("db") == "bf16");
  CHECK(Signature::parse("layer_norm_backward:n=8,accumulate=1").value("db") == "f32");
  CHECK(Signature::parse("layer_norm_backward:n=8,dw=none,accumulate=1").value("db") == "f32");
  CHECK(Signature::parse("layer_norm_backward:n=8,w=none").value("db") == "none");
  CHECK(Signature::parse("layer_norm_backward:n=8,w=none,db=f32").value("dw") == "none");
  CHECK(Signature::parse("layer_norm_backward:n=8,db=none").value("dw") == "bf16");
  for (const std::string keys :
       {"w=none,dw=f32", "w=none,accumulate=1", "dw=none,db=none,accumulate=1", "dw=f32,db=bf16"}) {
    CAPTURE(keys);
    CHECK_THROWS_AS(text(keys), Error);
  }
}

TEST_CASE("the typed front end of layer norm gives the canonical signature and its tensors") {
  using Gradient = LayerNormBackward::Gradient;
  CHECK(LayerNormBackward{.n = 4096}.signature() == Signature::parse("layer_norm_backward:n=4096"));
  CHECK(LayerNormBackward{.n = 5, .x = DType::f32, .w = {}, .db = Gradient::f32}.signature() ==
        Signature::parse("layer_norm_backward:n=5,x=f32,w=none,db=f32"));
  std::vector<LayerNormBackward> all;
  for (const bool accumulate : {false, true}) {
    for (const std::optional<DType> w : {std::optional<DType>(), std::optional(DType::f16)}) {
      for (const std::optional<Gradient> dw : {std::optional<Gradient>(),
                                               std::optional(Gradient::none),
                                               std::optional(Gradient::f32)}) {
        for (const std::optional<Gradient> db : {std::optional<Gradient>(),
                                                 std::optional(Gradient::none),
                                                 std::optional(Gradient::f32)}) {
          all.push_back({.n = 8,
                         .w = w,
                         .dw = dw,
                         .db = db,
                         .accumulate = accumulate,
                         .residual = accumulate});
        }
      }
    }
  }
  int valid = 0;
  for (const LayerNormBackward& op : all) {
    Signature signature;
    try {
      signature = op.signature();
    } catch (const Error&) {
      continue;  // keys that contradict each other
    }
    ++valid;
    const auto at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
    const auto numbers = [&](std::uintptr_t address) { return static_cast<float*>(at(address)); };
    const Arguments arguments = op.arguments({.rows = 2,
                                              .dy = at(0x10000),
                                              .x = at(0x20000),
                                              .mean = numbers(0x30000),
                                              .rstd = numbers(0x40000),
                                              .w = op.w ? at(0x50000) : nullptr,
                                              .residual = op.residual ? at(0x60000) : nullptr,
                                              .dx = at(0x70000),
                                              .dw = at(0x80000),
                                              .db = at(0x90000)});
    const PlanResult plan = mix::plan(signature, limits_of(Arch::parse("sm_90a")), {});
    LaunchContext context{.sm_count = 132, .workspace = at(0x100000), .workspace_bytes = 1 << 24};
    CallList calls;
    CAPTURE(signature.text());
    CHECK_NOTHROW(mix::bind(std::get<Plan>(plan), arguments, context, calls));
    CHECK(calls.count == 1);
  }
  CHECK(valid > 12);
}

TEST_CASE("tensors that a signature does without close ranks in the fused kernel") {
  const LayerNormBackward op{.n = 8, .dw = LayerNormBackward::Gradient::none, .residual = true};
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
  const Arguments arguments = op.arguments({.rows = 2,
                                            .dy = at(0x10000),
                                            .x = at(0x20000),
                                            .mean = static_cast<float*>(at(0x30000)),
                                            .rstd = static_cast<float*>(at(0x40000)),
                                            .w = at(0x50000),
                                            .residual = at(0x60000),
                                            .dx = at(0x70000),
                                            .db = at(0x90000)});
  LaunchContext context{.sm_count = 132, .workspace = at(0x100000), .workspace_bytes = 1 << 24};
  const auto parameters = [&](const Plan& plan) {
    CallList calls;
    mix::bind(plan, arguments, context, calls);
    mix::ReductionParameters p;
    std::copy_n(calls.calls[0].parameters.begin(), sizeof p, reinterpret_cast<std::byte*>(&p));
    return p;
  };
  const DeviceLimits& limits = limits_of(Arch::parse("sm_90a"));
  for (const bool fused : {true, false}) {
    const mix::ReductionParameters p = parameters(
        fused ? std::get<Plan>(mix::plan(op.signature(), limits, {}))
              : mix::compose(op.signature(), limits, {FallbackReason::forced, "a test"}));
    CHECK(p.inputs[0].base == at(0x20000));
    CHECK(p.inputs[1].base == at(0x10000));
    CHECK(p.inputs[2].base == at(0x60000));
    CHECK(p.row_vectors[0] == at(0x50000));
    CHECK(p.column_vectors[1] == at(0x40000));
    CHECK(p.outputs[0].base == at(0x70000));
    CHECK(p.column_sums[0] == at(0x90000));
    CHECK(p.column_sums[1] == nullptr);
  }
}

}  // namespace
