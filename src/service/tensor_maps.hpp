// Tensor maps of a call, encoded by the driver into its parameters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/family.hpp"
#include "src/cuda/driver.hpp"

namespace kiln {

// Allocates nothing and needs no context. Throws Error{driver_error} with what was refused.
void encode_tensor_maps(const Driver& driver, KernelCall& call);

}  // namespace kiln
