// Reals with a bound on how far an fp32 computation of them may be off.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <kiln/dtype.hpp>

namespace kiln::mix_order_reduction {

// The value in double precision, and the most by which the value of the device may differ, by the
// standard model: an operation of fp32 is exact, times 1 + d with |d| <= 2^-24, plus what the
// subnormal range loses. No overflow, no division by what may be zero: there the bound is infinite.
struct Bounded {
  double value = 0;
  double error = 0;
};

namespace bounded {
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A rounding to nearest even of |x| <= size is off by at most size * relative + absolute.
struct Rounding {
  double relative, absolute;
};

inline Rounding rounding(DType type) {
  switch (type) {
    case DType::f16:
      return {0x1p-11, 0x1p-25};
    case DType::bf16:
      return {0x1p-8, 0x1p-134};
    case DType::f32:
    case DType::i32:
      return {0x1p-24, 0x1p-150};
  }
  return {0, 0};
}

// The double arithmetic of value and bound rounds too, by less than this share.
inline constexpr double kSlack = 1 + 0x1p-40;

inline Bounded rounded(double value, double error, DType type = DType::f32) {
  const Rounding r = rounding(type);
  return {value, (error + r.relative * (std::abs(value) + error) + r.absolute) * kSlack};
}

inline double product_error(Bounded a, Bounded b) {
  return std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
}

inline bool may_be_equal(Bounded a, Bounded b) {
  return std::abs(a.value - b.value) <= (a.error + b.error) * kSlack;
}

inline Bounded condition(bool value, bool doubtful) {
  return {value ? 1.0 : 0.0, doubtful ? 1.0 : 0.0};
}

inline bool exact(Bounded a, Bounded b) { return a.error == 0 && b.error == 0; }

}  // namespace bounded

[[nodiscard]] inline Bounded negate(Bounded a) { return {-a.value, a.error}; }

[[nodiscard]] inline Bounded abs(Bounded a) { return {std::abs(a.value), a.error}; }

[[nodiscard]] inline Bounded sqrt(Bounded a) {
  const double value = std::sqrt(a.value);
  // sqrt(a) - sqrt(a - e) = e / (sqrt(a) + sqrt(a - e)).
  if (a.error == 0) return bounded::rounded(value, 0);
  if (a.value < a.error)
    return {value, bounded::kInfinity};  // the device may see a negative number
  return bounded::rounded(value, a.error / (value + std::sqrt(a.value - a.error)));
}

// The most by which the functions of elementary.hpp are off, in units of the last place of the
// result: measured over every fp32 number against double precision (1.06, 0.86, 1.31, 2.31, 1.15)
// and rounded up. Below 2^-126 sigmoid gives 0.
struct ElementaryError {
  static constexpr double exp = 1.25, log = 1, tanh = 1.5, sigmoid = 2.5, erf = 1.25;
};

namespace bounded {

// A function whose value is off by at most `error` before it is computed with that many units.
inline Bounded elementary(double value, double error, double units) {
  // A unit is at most 2^-23 of the value, and of the subnormal range at least 2^-149.
  return {value, (error + units * (0x1p-23 * (std::abs(value) + error) + 0x1p-149)) * kSlack};
}

}  // namespace bounded

[[nodiscard]] inline Bounded exp(Bounded a) {
  const double value = std::exp(a.value), error = value * std::expm1(a.error);
  // Where the device may overflow.
  if (value + 2 * error >= 0x1.fffffep127) return {value, bounded::kInfinity};
  return bounded::elementary(value, error, ElementaryError::exp);
}

[[nodiscard]] inline Bounded log(Bounded a) {
  const double value = std::log(a.value);
  if (a.error == 0) return bounded::elementary(value, 0, ElementaryError::log);
  if (a.value <= a.error) return {value, bounded::kInfinity};
  return bounded::elementary(value, -std::log1p(-a.error / a.value), ElementaryError::log);
}

// Slopes are at most that at the nearest point to 0.
[[nodiscard]] inline Bounded tanh(Bounded a) {
  const double near = std::max(std::abs(a.value) - a.error, 0.0), slope = 1 / std::cosh(near);
  return bounded::elementary(std::tanh(a.value), a.error * slope * slope, ElementaryError::tanh);
}

[[nodiscard]] inline Bounded sigmoid(Bounded a) {
  const auto at = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double near = std::max(std::abs(a.value) - a.error, 0.0);
  Bounded out =
      bounded::elementary(at(a.value), a.error * at(near) * at(-near), ElementaryError::sigmoid);
  out.error += 0x1p-126;
  return out;
}

[[nodiscard]] inline Bounded erf(Bounded a) {
  constexpr double kTwoOverRootPi = 1.1283791670955126;
  const double near = std::max(std::abs(a.value) - a.error, 0.0);
  return bounded::elementary(
      std::erf(a.value), a.error * kTwoOverRootPi * std::exp(-near * near), ElementaryError::erf);
}

[[nodiscard]] inline Bounded round(Bounded a, DType type) {
  return bounded::rounded(a.value, a.error, type);
}

[[nodiscard]] inline Bounded add(Bounded a, Bounded b) {
  return bounded::rounded(a.value + b.value, a.error + b.error);
}

[[nodiscard]] inline Bounded subtract(Bounded a, Bounded b) {
  return bounded::rounded(a.value - b.value, a.error + b.error);
}

[[nodiscard]] inline Bounded multiply(Bounded a, Bounded b) {
  return bounded::rounded(a.value * b.value, bounded::product_error(a, b));
}

[[nodiscard]] inline Bounded divide(Bounded a, Bounded b) {
  const double value = a.value / b.value;
  const double left = std::abs(b.value) - b.error;
  if (left <= 0 && b.error > 0) return {value, bounded::kInfinity};
  if (bounded::exact(a, b)) return bounded::rounded(value, 0);
  return bounded::rounded(value, (a.error + std::abs(value) * b.error) / left);
}

[[nodiscard]] inline Bounded min(Bounded a, Bounded b) {
  if (std::isnan(a.value) || std::isnan(b.value)) return {std::nan(""), 0};
  return {std::min(a.value, b.value), std::max(a.error, b.error)};
}

[[nodiscard]] inline Bounded max(Bounded a, Bounded b) {
  if (std::isnan(a.value) || std::isnan(b.value)) return {std::nan(""), 0};
  return {std::max(a.value, b.value), std::max(a.error, b.error)};
}

[[nodiscard]] inline Bounded fma(Bounded a, Bounded b, Bounded c) {
  return bounded::rounded(std::fma(a.value, b.value, c.value),
                          bounded::product_error(a, b) + c.error);
}

// Conditions are 1 or 0, with an error of 1 where rounding may decide them.
[[nodiscard]] inline Bounded less(Bounded a, Bounded b) {
  return bounded::condition(a.value < b.value,
                            !bounded::exact(a, b) && bounded::may_be_equal(a, b));
}

[[nodiscard]] inline Bounded less_equal(Bounded a, Bounded b) {
  return bounded::condition(a.value <= b.value,
                            !bounded::exact(a, b) && bounded::may_be_equal(a, b));
}

[[nodiscard]] inline Bounded equal(Bounded a, Bounded b) {
  return bounded::condition(a.value == b.value,
                            !bounded::exact(a, b) && bounded::may_be_equal(a, b));
}

[[nodiscard]] inline Bounded complement(Bounded c) { return {1 - c.value, c.error}; }

[[nodiscard]] inline Bounded select(Bounded c, Bounded a, Bounded b) {
  const Bounded taken = c.value != 0 ? a : b, other = c.value != 0 ? b : a;
  if (c.error == 0) return taken;
  return {
      taken.value,
      std::max(taken.error, std::abs(taken.value - other.value) + other.error) * bounded::kSlack};
}

// 1 / n as the host rounds it.
[[nodiscard]] inline Bounded inverse(double n) { return bounded::rounded(1 / n, 0); }

// A sum of terms, in whatever order a kernel adds them.
class BoundedSum {
 public:
  void add(Bounded term);
  void add_product(Bounded a, Bounded b);  // not rounded before it is added
  // `roundings`: the most that one term passes through on its way into the sum.
  [[nodiscard]] Bounded total(double roundings) const;

 private:
  double value_ = 0, error_ = 0, magnitude_ = 0, terms_ = 0;
};

inline void BoundedSum::add(Bounded term) {
  value_ += term.value;
  error_ += term.error;
  magnitude_ += std::abs(term.value) + term.error;
  ++terms_;
}

inline void BoundedSum::add_product(Bounded a, Bounded b) {
  add({a.value * b.value, bounded::product_error(a, b)});
}

inline Bounded BoundedSum::total(double roundings) const {
  const bounded::Rounding r = bounded::rounding(DType::f32);
  // (1 + u)^k - 1 <= 1.01 k u for k below 10^5.
  const double added =
      1.01 * roundings * r.relative * magnitude_ + r.absolute * (terms_ + roundings);
  return {value_, (error_ + added) * bounded::kSlack};
}

}  // namespace kiln::mix_order_reduction
