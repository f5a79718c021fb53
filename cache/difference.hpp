// In what two keys differ, for people.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/core/digest.hpp"

namespace kiln::cache {

// One line a difference, down to the line of source or the header:
//   arch: sm_90a, not sm_90
//   source, line 12: "constexpr int kTile = 64;", not "constexpr int kTile = 32;"
//   header rms_norm.cuh: other content (1f2e…, not 99ab…)
//   nvrtc: 13.0, not 12.9
// `a` comes first in each. A toolchain is compared only when both have one. Empty: none.
[[nodiscard]] std::vector<std::string> differences(const Key& a, const Key& b);

// The value of the first field of this label; empty when there is none.
[[nodiscard]] std::string_view field_of(const Key& key, std::string_view label) noexcept;

}  // namespace kiln::cache
