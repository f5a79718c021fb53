// Device code of a program for the composed kernels, and how those are called.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kernels/mix_order_reduction/printer.hpp"

namespace kiln::mix_order_reduction {

// The matrix and column outputs, or the column sums.
enum class Part { rows, columns };

// struct <name>, for composed.cuh.
[[nodiscard]] std::string composed_formula(const Program& program,
                                           const Shape& shape,
                                           Part part,
                                           std::string_view name);
// The body of composed.cuh that takes it.
[[nodiscard]] std::string_view composed_body(const Shape& shape, Part part);

// Whether there is anything but column sums.
[[nodiscard]] inline bool has_rows(const Shape& shape) {
  return !shape.outputs.empty() || !shape.column_outputs.empty();
}
// Whether a column sum needs what passes over a row give.
[[nodiscard]] bool sums_need_passes(const Shape& shape);

// The entry of the kernel that serves a part of a program, named by a digest of its formula: one
// kernel serves every signature whose formula is the same, since types are arguments.
[[nodiscard]] std::string composed_entry(std::string_view op,
                                         const Program& program,
                                         const Shape& shape,
                                         Part part);
inline constexpr std::string_view kFinishEntry = "finish";

}  // namespace kiln::mix_order_reduction
