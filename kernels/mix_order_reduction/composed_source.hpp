// The text of composed.cu, every composed kernel of every built-in op, and of one kernel alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/mix_order_reduction/op.hpp"

namespace kiln::mix_order_reduction {

// A function of the descriptions and their ops' keys; a test holds composed.cu to it.
[[nodiscard]] std::string composed_source();

// A kernel of an op's composed plan, by its entry: what a described op compiles. Throws
// Error{internal} when there is none.
[[nodiscard]] Source composed_kernel(const Op& op, const std::string& entry);

}  // namespace kiln::mix_order_reduction
