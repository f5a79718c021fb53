// What the conformance suite runs over: every sample of every family, and the steps of a request up
// to its digest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/family.hpp"
#include "src/core/digest.hpp"

namespace kiln::conformance {

struct Case {
  const Family* family = nullptr;
  Sample sample;
  Signature signature;

  // The fused plan, or nothing when the planner refuses.
  [[nodiscard]] std::optional<Plan> fused(const DeviceLimits& limits,
                                          const Policy& policy = {}) const;
  // "scale_rows, sample scale_rows:n=1"
  [[nodiscard]] std::string text() const;
};

// Every sample of every family in the list, in its order.
[[nodiscard]] std::vector<Case> cases();

// Default, many stages, many stages lowered: policies that planning looks at.
[[nodiscard]] std::vector<Policy> policies();

// The folders that this program's families come from, in the order of families().
[[nodiscard]] std::vector<std::filesystem::path> family_folders();
[[nodiscard]] std::filesystem::path folder_of(const Family& family);

[[nodiscard]] Closure closure_of(const Family& family, const Plan& plan, std::size_t stage);
[[nodiscard]] Key key_of(const Family& family, const Closure& closure, const Arch& arch);

// The sources of a plan's stages, one after another: what a golden holds.
[[nodiscard]] std::string emitted_text(const Family& family, const Plan& plan);

}  // namespace kiln::conformance
