// Device code of a program's element: what the fused kernel includes instead of a formula of its
// own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/mix_order_reduction/shape.hpp"

namespace kiln::mix_order_reduction {

// struct Formula, for reduction.cuh.
[[nodiscard]] std::string fused_formula(const Program& program, const Shape& shape);
// Whether it needs functions.cuh.
[[nodiscard]] bool has_functions(const Program& program);

}  // namespace kiln::mix_order_reduction
