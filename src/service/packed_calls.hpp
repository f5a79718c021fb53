// The calls of one bind, ready for the driver.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <kiln/arguments.hpp>

#include "kernels/family.hpp"
#include "src/cuda/launch.hpp"
#include "src/service/prepared_state.hpp"

namespace kiln {

struct PackedCalls {
  CallList list;
  std::array<PackedLaunch, CallList::kCapacity> launches{};

  // Throws Error{invalid_argument}: what is here must then not run. Allocates nothing.
  void pack(const PreparedState& prepared,
            const Arguments& arguments,
            const LaunchContext& context);
};

}  // namespace kiln
