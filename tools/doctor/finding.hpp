// One thing `kiln doctor` looked at.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

// Only `broken` makes doctor exit with 1: `absent` and `warning` leave kiln usable.
enum class Health { good, absent, warning, broken };

[[nodiscard]] std::string_view to_string(Health health) noexcept;

struct Finding {
  std::string subject;  // "driver"
  Health health = Health::good;
  std::string detail;             // what is there
  std::string advice;             // what to do; empty when good
  std::vector<std::string> more;  // further lines: what was tried, values
};

}  // namespace kiln::cli
