// What a description must satisfy whatever the signature says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/description.hpp"

namespace kiln::mix_order_reduction {

// Throws Error{invalid_source}: see parse_description.
void check(const Description& description);

}  // namespace kiln::mix_order_reduction
