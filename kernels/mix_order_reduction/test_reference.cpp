// The reference: right where the answer is known, and a bound that fp32 arithmetic keeps.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/mix_order_reduction/bounded.hpp"
#include "kernels/mix_order_reduction/emulate.hpp"
#include "kernels/mix_order_reduction/evaluate.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/registry.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
namespace mix = kiln::mix_order_reduction;
using mix::Bounded;

using Functions = mix::HostFunctions;

// A real, and an fp32 value within its error.
struct Number {
  Bounded real;
  float device;
};

Number number(std::mt19937& random, bool positive) {
  std::normal_distribution<double> normal;
  const double scale = std::exp2(std::uniform_real_distribution<double>(-6, 6)(random));
  double value = normal(random) * scale;
  if (positive) value = std::abs(value) + 0x1p-6;
  const double error = random() % 3 == 0
                           ? 0
                           : std::abs(value) * std::exp2(-8.0 - static_cast<double>(random() % 16));
  if (error == 0) value = static_cast<double>(static_cast<float>(value));
  const double off = std::uniform_real_distribution<double>(-0.99, 0.99)(random) * error;
  const auto device = static_cast<float>(value + off);
  return {{value, error == 0 ? 0 : error + std::abs(value) * 0x1p-23}, device};
}

TEST_CASE("every operation of fp32 keeps its bound") {
  struct Case {
    const char* name;
    std::function<Bounded(Bounded, Bounded, Bounded)> bound;
    std::function<float(float, float, float)> device;
    bool positive = false;
  };
  const std::vector<Case> cases{
      {"negate",
       [](auto a, auto, auto) { return mix::negate(a); },
       [](float a, float, float) { return -a; }},
      {"abs",
       [](auto a, auto, auto) { return mix::abs(a); },
       [](float a, float, float) { return std::abs(a); }},
      {"sqrt",
       [](auto a, auto, auto) { return mix::sqrt(a); },
       [](float a, float, float) { return std::sqrt(a); },
       true},
      {"add",
       [](auto a, auto b, auto) { return mix::add(a, b); },
       [](float a, float b, float) { return a + b; }},
      {"subtract",
       [](auto a, auto b, auto) { return mix::subtract(a, b); },
       [](float a, float b, float) { return a - b; }},
      {"multiply",
       [](auto a, auto b, auto) { return mix::multiply(a, b); },
       [](float a, float b, float) { return a * b; }},
      {"divide",
       [](auto a, auto b, auto) { return mix::divide(a, b); },
       [](float a, float b, float) { return a / b; }},
      {"min",
       [](auto a, auto b, auto) { return mix::min(a, b); },
       [](float a, float b, float) { return std::min(a, b); }},
      {"max",
       [](auto a, auto b, auto) { return mix::max(a, b); },
       [](float a, float b, float) { return std::max(a, b); }},
      {"exp",
       [](auto a, auto, auto) { return mix::exp(a); },
       [](float a, float, float) { return Functions::exp(a); }},
      {"log",
       [](auto a, auto, auto) { return mix::log(a); },
       [](float a, float, float) { return Functions::log(a); },
       true},
      {"tanh",
       [](auto a, auto, auto) { return mix::tanh(a); },
       [](float a, float, float) { return Functions::tanh(a); }},
      {"sigmoid",
       [](auto a, auto, auto) { return mix::sigmoid(a); },
       [](float a, float, float) { return Functions::sigmoid(a); }},
      {"erf",
       [](auto a, auto, auto) { return mix::erf(a); },
       [](float a, float, float) { return Functions::erf(a); }},
      {"fma",
       [](auto a, auto b, auto c) { return mix::fma(a, b, c); },
       [](float a, float b, float c) { return std::fma(a, b, c); }},
      {"select",
       [](auto a, auto b, auto c) { return mix::select(mix::less(a, b), b, c); },
       [](float a, float b, float c) { return a < b ? b : c; }},
  };
  std::mt19937 random(3);
  for (const Case& one : cases) {
    double closest = 0;
    for (int i = 0; i < 20'000; ++i) {
      const Number a = number(random, one.positive), b = number(random, false),
                   c = number(random, false);
      const Bounded bound = one.bound(a.real, b.real, c.real);
      const double off =
          std::abs(static_cast<double>(one.device(a.device, b.device, c.device)) - bound.value);
      if (!(off <= bound.error)) {  // capturing costs more than checking
        CAPTURE(one.name,
                a.real.value,
                a.real.error,
                a.device,
                b.real.value,
                b.device,
                c.device,
                bound.error);
        FAIL("out of bounds");
      }
      if (bound.error > 0 && std::isfinite(bound.error))
        closest = std::max(closest, off / bound.error);
    }
    INFO(one.name);
    CHECK(closest > 0.5);  // a bound that nothing comes near hides errors
  }
}

TEST_CASE("where rounding may decide, the bound says so") {
  CHECK(mix::less({1, 0.1}, {1.05, 0}).error == 1);
  CHECK(mix::less({1, 0}, {1, 0}).error == 0);
  CHECK(std::isinf(mix::divide({1, 0}, {0.5, 0.6}).error));
  CHECK(std::isinf(mix::sqrt({0.5, 0.6}).error));
  CHECK(mix::select({1, 1}, {5, 0}, {2, 0}).error >= 3);
}

std::vector<HostTensor> random_tensors(const Problem& problem, std::mt19937& random) {
  std::vector<HostTensor> out;
  std::normal_distribution<double> normal;
  for (const TensorSpec& spec : problem.tensors) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : spec.shape) elements *= extent;
    HostTensor t{spec.name, spec.shape, std::vector<double>(static_cast<std::size_t>(elements))};
    for (double& value : t.values) {
      value = normal(random);
      if (spec.fill == Fill::positive) value = 0.5 + std::abs(value) / 2;
      value = mix::rounded_to(spec.type, static_cast<float>(value));
    }
    out.push_back(std::move(t));
  }
  return out;
}

TEST_CASE("fp32 arithmetic in the family's order stays within the reference's bounds") {
  std::mt19937 random(5);
  double closest = 0;
  for (const std::string text : {"rms_norm_backward:n=1,x=f32",
                                 "rms_norm_backward:n=5,x=f32,w=none",
                                 "rms_norm_backward:n=128",
                                 "rms_norm_backward:n=253,x=f16,w=f32",
                                 "rms_norm_backward:n=1000,residual=1,x=f32",
                                 "rms_norm_backward:n=2049,w=f32,accumulate=1",
                                 "rms_norm_backward:n=8472,x=f32",
                                 "rms_norm_backward:n=20000,x=bf16,dw=f32,accumulate=1",
                                 "layer_norm_backward:n=3,x=f32",
                                 "layer_norm_backward:n=128,dw=none",
                                 "layer_norm_backward:n=1000,x=f16,w=none,db=f32",
                                 "layer_norm_backward:n=2049,x=f32,residual=1,accumulate=1",
                                 "rms_norm_backward:n=100,offset=1",
                                 "rms_norm_backward:n=2049,gated=1,residual=1",
                                 "rms_norm_backward:n=300,gated=1,offset=1,x=f32,w=bf16",
                                 "rms_norm_backward:n=40,gated=1,w=none,x=f16",
                                 "rms_norm_forward:n=100",
                                 "rms_norm_forward:n=5000,residual=1,offset=1,x=f16",
                                 "rms_norm_forward:n=33,residual=1,w=none,x=f32",
                                 "layer_norm_forward:n=100",
                                 "layer_norm_forward:n=3000,residual=1,w=f32,b=none",
                                 "layer_norm_forward:n=8,w=none,x=f32",
                                 "softmax_backward:n=1000,dbias=f32",
                                 "softmax_backward:n=128,x=f32,accumulate=1",
                                 "softmax_backward:n=64",
                                 "adaln_backward:n=300",
                                 "adaln_backward:n=2049,x=f32,residual=1,accumulate=1",
                                 "bias_backward:n=1",
                                 "bias_backward:n=3000,x=f32",
                                 "rms_norm_pair_backward:n=1000,x=f32,residual=1",
                                 "rms_norm_pair_backward:n=64,accumulate=1",
                                 "absmax:n=1",
                                 "absmax:n=5000,x=f32"}) {
    const Signature signature = Signature::parse(text);
    for (const std::int64_t rows : {0, 1, 13, 600}) {
      if (rows * signature.integer("n") > 1'000'000) continue;
      const std::vector<HostTensor> tensors = random_tensors(mix::problem(signature, rows), random);
      const std::vector<Expected> expected = mix::reference(signature, rows, tensors);
      const std::vector<HostTensor> made =
          mix::emulate(mix::specialise(mix::description_of(signature.op), signature),
                       signature.integer("n"),
                       rows,
                       tensors);
      REQUIRE(expected.size() == made.size());
      for (std::size_t o = 0; o < made.size(); ++o) {
        REQUIRE(expected[o].values.size() == made[o].values.size());
        for (std::size_t i = 0; i < made[o].values.size(); ++i) {
          const double off = std::abs(made[o].values[i] - expected[o].values[i]);
          if (!(off <= expected[o].bounds[i])) {
            CAPTURE(text,
                    rows,
                    made[o].name,
                    i,
                    made[o].values[i],
                    expected[o].values[i],
                    expected[o].bounds[i]);
            FAIL("out of bounds");
          }
          if (off > 0) closest = std::max(closest, off / expected[o].bounds[i]);
        }
      }
    }
  }
  CHECK(closest > 0.3);
}

TEST_CASE("a problem is the tensors that a signature has, and the bytes that must move") {
  const Problem p =
      mix::problem(Signature::parse("rms_norm_backward:n=8,w=f32,residual=1,accumulate=1"), 3);
  std::vector<std::string> names;
  for (const TensorSpec& t : p.tensors) names.push_back(t.name);
  CHECK(names == std::vector<std::string>{"x", "dy", "rstd", "residual", "w", "dx", "dw"});
  CHECK(p.floor_bytes == 4 * 3 * 8 * 2 + 3 * 4 + 8 * 4 + 2 * 8 * 4);
  CHECK(p.flops == 10.0 * 3 * 8);
  CHECK(p.tensors.back().role == Role::in_out);
}

}  // namespace
