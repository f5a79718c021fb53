// Tensor maps of a call, encoded by the driver into its parameters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/family.hpp"
#include "src/service/device_state.hpp"

namespace kiln {

// Allocates nothing; from any thread. Throws Error{driver_error} with what was refused.
void encode_tensor_maps(const DeviceState& device, KernelCall& call);

}  // namespace kiln
