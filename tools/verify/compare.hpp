// Comparing a result with its double-precision reference, element by element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/family.hpp"

namespace kiln::verify {

struct TensorCheck {
  std::string name;
  std::int64_t elements = 0;
  std::int64_t wrong = 0;           // outside their bound, or not numbers
  double worst_error = 0;           // largest absolute error
  double worst_ratio = 0;           // largest error over bound; at most 1 when all is well
  std::int64_t worst_element = -1;  // where worst_ratio is
  double worst_value = 0;           // what is there
  double worst_expected = 0;        // what should be

  [[nodiscard]] bool passed() const noexcept { return wrong == 0; }
};

// A NaN is right only where the reference has one; an infinity only where the reference has the
// same.
[[nodiscard]] TensorCheck compare(const Expected& expected, std::span<const double> actual);

}  // namespace kiln::verify
