// Device code of a program's element: what kernels include instead of a formula of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/mix_order_reduction/program.hpp"

namespace kiln::mix_order_reduction {

// What the fused kernel needs to know of a program, and the planner of its cost.
struct Shape {
  DType matrix = DType::f32;     // of every matrix
  DType sum = DType::f32;        // of every column output
  bool accumulate = false;       // of every column output
  std::vector<int> matrices;     // of Program::inputs: those that sums need, then the others
  int kept_matrices = 0;         // that sums need
  std::vector<int> row_vectors;  // of Program::inputs
  std::vector<int> column_vectors;
  std::vector<int> outputs;      // of Program::outputs: matrices
  std::vector<int> column_sums;  // of Program::outputs
  std::vector<int> row_sums;     // of Program::nodes
};

// Throws Error{internal} for a program that no kernel serves yet: sums of sums, column sums of what
// row sums give, matrices or column outputs of several types, column vectors other than f32, column
// vectors as outputs, inputs that only outputs need before others, or more tensors than
// parameters.hpp holds.
[[nodiscard]] Shape shape_of(const Program& program);

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
