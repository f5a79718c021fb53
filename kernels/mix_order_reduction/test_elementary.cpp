// exp, log, tanh, sigmoid and erf against double precision, over the whole of fp32.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/mix_order_reduction/bounded.hpp"
#include "kernels/mix_order_reduction/emulate.hpp"
#include "tests/testing.hpp"

namespace {

using Functions = kiln::mix_order_reduction::HostFunctions;
using Error = kiln::mix_order_reduction::ElementaryError;

// Every number where the tests soak, else one of 997: a prime, so that all exponents and all low
// bits come.
constexpr std::uint64_t kStep = 997;

// The largest error in units of the last place of the result; infinite where it is infinite, or no
// NaN, and should not be. Results below `least` are not counted.
double worst(float (*function)(float), double (*exact)(double), double least) {
  double most = 0;
  const std::uint64_t step = kiln::testing::soaking() ? 1 : kStep;
  for (std::uint64_t i = 0; i < std::uint64_t{1} << 32; i += step) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(i));
    const float made = function(x);
    const double wanted = exact(static_cast<double>(x));
    if (std::isnan(wanted) || std::isinf(static_cast<float>(wanted)) || std::isinf(made)) {
      const bool same = std::isnan(wanted) ? std::isnan(made) : made == static_cast<float>(wanted);
      if (!same) return std::numeric_limits<double>::infinity();
      continue;
    }
    const double off = std::abs(static_cast<double>(made) - wanted);
    if (off <= least) continue;
    const int exponent = wanted == 0 ? -126 : std::max(std::ilogb(wanted), -126);
    most = std::max(most, off / std::ldexp(1.0, exponent - 23));
  }
  return most;
}

TEST_CASE("elementary functions are as exact as their bounds say, and special where they must be") {
  const double exp = worst(
      Functions::exp, [](double x) { return std::exp(x); }, 0);
  const double log = worst(
      Functions::log, [](double x) { return std::log(x); }, 0);
  const double tanh = worst(
      Functions::tanh, [](double x) { return std::tanh(x); }, 0);
  const double sigmoid = worst(
      Functions::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 0x1p-126);
  const double erf = worst(
      Functions::erf, [](double x) { return std::erf(x); }, 0);
  CAPTURE(exp, log, tanh, sigmoid, erf);
  CHECK(exp <= Error::exp);
  CHECK(log <= Error::log);
  CHECK(tanh <= Error::tanh);
  CHECK(sigmoid <= Error::sigmoid);
  CHECK(erf <= Error::erf);
  CHECK(exp > Error::exp / 2);  // a bound that nothing comes near hides errors
  CHECK(log > Error::log / 2);
  CHECK(tanh > Error::tanh / 2);
  CHECK(sigmoid > Error::sigmoid / 2);
  CHECK(erf > Error::erf / 2);
}

TEST_CASE("elementary functions keep signs, zeros and infinities") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (float (*function)(float) : {&Functions::tanh, &Functions::erf}) {
    CHECK((function(0.0f) == 0.0f && !std::signbit(function(0.0f))));
    CHECK(std::signbit(function(-0.0f)));
    CHECK(function(infinity) == 1.0f);
    CHECK(function(-infinity) == -1.0f);
    for (const float x : {1e-30f, 0.1f, 0.9f, 2.0f, 20.0f}) CHECK(function(-x) == -function(x));
  }
  CHECK(Functions::exp(0.0f) == 1.0f);
  CHECK(Functions::exp(-infinity) == 0.0f);
  CHECK(Functions::exp(infinity) == infinity);
  CHECK(Functions::log(1.0f) == 0.0f);
  CHECK(Functions::log(0.0f) == -infinity);
  CHECK(Functions::log(-0.0f) == -infinity);
  CHECK(std::isnan(Functions::log(-1.0f)));
  CHECK(Functions::sigmoid(0.0f) == 0.5f);
  CHECK(Functions::sigmoid(-infinity) == 0.0f);
  CHECK(Functions::sigmoid(infinity) == 1.0f);
}

}  // namespace
