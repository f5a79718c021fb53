// Device code of a program's element: what kernels include instead of a formula of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/mix_order_reduction/program.hpp"
#include "kernels/mix_order_reduction/shape.hpp"

namespace kiln::mix_order_reduction {

// struct <name>, for reduction.cuh.
[[nodiscard]] std::string fused_formula(const Program& program, const Shape& shape);
// struct <name>, for composed.cuh: the matrix outputs and their row sums, or the column sums.
enum class Part { rows, columns };
[[nodiscard]] std::string composed_formula(const Program& program,
                                           const Shape& shape,
                                           Part part,
                                           std::string_view name);

// Entries of the composed kernels that serve a program.
[[nodiscard]] std::string composed_entry(std::string_view op,
                                         const Program& program,
                                         const Shape& shape,
                                         Part part);
[[nodiscard]] std::string finish_entry(DType sum);

}  // namespace kiln::mix_order_reduction
