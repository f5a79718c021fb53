// Comparing a result with its reference.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/compare.hpp"

#include <cmath>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/verify/parallel.hpp"

namespace kiln::verify {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Error over bound: at most 1 is right.
double ratio(double value, double expected, double bound) noexcept {
  if (std::isnan(expected)) return std::isnan(value) ? 0.0 : kInfinity;
  if (std::isnan(value)) return kInfinity;
  if (value == expected) return 0.0;
  const double error = std::fabs(value - expected);
  if (!std::isfinite(error)) return kInfinity;
  return bound > 0.0 ? error / bound : kInfinity;
}

void look_at(
    TensorCheck& check, std::int64_t element, double value, double expected, double bound) {
  const double error = std::fabs(value - expected);
  if (std::isfinite(error) && error > check.worst_error) check.worst_error = error;
  const double share = ratio(value, expected, bound);
  if (!(share <= 1.0)) ++check.wrong;
  if (share <= check.worst_ratio && check.worst_element >= 0) return;
  check.worst_ratio = share;
  check.worst_element = element;
  check.worst_value = value;
  check.worst_expected = expected;
}

void merge(TensorCheck& all, const TensorCheck& part) {
  all.wrong += part.wrong;
  all.worst_error = std::fmax(all.worst_error, part.worst_error);
  const bool worse = part.worst_ratio > all.worst_ratio || (part.worst_ratio == all.worst_ratio &&
                                                            part.worst_element < all.worst_element);
  if (part.worst_element < 0 || (all.worst_element >= 0 && !worse)) return;
  all.worst_ratio = part.worst_ratio;
  all.worst_element = part.worst_element;
  all.worst_value = part.worst_value;
  all.worst_expected = part.worst_expected;
}

}  // namespace

TensorCheck compare(const Expected& expected, std::span<const double> actual) {
  if (expected.values.size() != actual.size() || expected.bounds.size() != actual.size()) {
    throw Error(ErrorCode::internal,
                fmt::format("the reference of {} has {} values and {} bounds for {} elements",
                            expected.name,
                            expected.values.size(),
                            expected.bounds.size(),
                            actual.size()));
  }
  TensorCheck all;
  all.name = expected.name;
  all.elements = static_cast<std::int64_t>(actual.size());
  std::mutex mutex;
  parallel_for(all.elements, [&](std::int64_t begin, std::int64_t end) {
    TensorCheck part;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      look_at(part, i, actual[at], expected.values[at], expected.bounds[at]);
    }
    const std::lock_guard lock(mutex);
    merge(all, part);
  });
  return all;
}

}  // namespace kiln::verify
