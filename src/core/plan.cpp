// Names of routes and origins, and reading a stage's constants.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>
#include <kiln/plan.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "src/core/diagnostics.hpp"

namespace kiln {

std::string_view to_string(Route route) noexcept {
  switch (route) {
    case Route::fused:
      return "fused";
    case Route::composed:
      return "composed";
  }
  return "unknown";
}

std::string_view to_string(Origin origin) noexcept {
  switch (origin) {
    case Origin::none:
      return "none";
    case Origin::memory:
      return "memory";
    case Origin::cache:
      return "cache";
    case Origin::layer:
      return "layer";
    case Origin::compiled:
      return "compiled";
    case Origin::embedded:
      return "embedded";
  }
  return "unknown";
}

std::int64_t StagePlan::constant(std::string_view name) const {
  const auto found =
      std::ranges::find(constants, name, [](const auto& pair) { return pair.first; });
  if (found == constants.end()) {
    throw Error{ErrorCode::internal,
                fmt::format("the plan of {} has no constant {}", quote(entry), quote(name))};
  }
  return found->second;
}

const StagePlan& Plan::kernel(std::size_t index) const {
  if (index < stages.size()) return stages[index];
  if (index - stages.size() < otherwise.size()) return otherwise[index - stages.size()];
  throw Error{ErrorCode::internal,
              fmt::format("the plan of {} has no kernel {}", quote(signature.text()), index)};
}

}  // namespace kiln
