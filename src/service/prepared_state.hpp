// What a Prepared shares: the plan, and, for a device, the functions that run it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <kiln/plan.hpp>
#include <kiln/service.hpp>

#include "kernels/family.hpp"
#include "src/service/device_state.hpp"
#include "src/service/kernel.hpp"

namespace kiln {

struct PreparedState {
  const Family* family = nullptr;
  Plan plan;
  Device device;                                // ordinal -1: prepared for an architecture
  std::shared_ptr<const DeviceState> hardware;  // null: likewise
  // Why the kernels of Plan::otherwise are not there, which only a launch that needs them minds.
  std::string otherwise_refusal;
  std::vector<LoadedFunction> functions;       // one a kernel, as Plan::kernel numbers them
  std::array<int, 4> ctas_per_sm{1, 1, 1, 1};  // of each, asked of the driver
  std::array<int, 4> clusters{};               // likewise; 0: it has no clusters
};

}  // namespace kiln
