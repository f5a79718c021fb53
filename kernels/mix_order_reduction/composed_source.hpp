// The text of composed.cu: every composed kernel of every built-in op.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln::mix_order_reduction {

// A function of the descriptions and their ops' keys; a test holds composed.cu to it.
[[nodiscard]] std::string composed_source();

}  // namespace kiln::mix_order_reduction
