// What kernels need to know of a program, and which parts of it a sum or an output needs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

[[nodiscard]] const Node& node_of(const Program& program, int i);
[[nodiscard]] const ProgramTensor& input_of(const Program& program, int i);
[[nodiscard]] const Output& output_of(const Program& program, int i);

// The nodes that the roots need, without what row sums need when they are taken as known.
[[nodiscard]] std::vector<bool> needed(const Program& program,
                                       const std::vector<int>& roots,
                                       bool sums_known);
// What the sums add: the row sums', the column sums', or both's.
[[nodiscard]] std::vector<int> summands(const Program& program,
                                        const Shape& shape,
                                        bool rows,
                                        bool columns);
// The nodes that the matrix outputs are.
[[nodiscard]] std::vector<int> written(const Program& program, const Shape& shape);
// Where a value is in a list; its size when it is not there.
[[nodiscard]] std::size_t position(const std::vector<int>& list, int value);

}  // namespace kiln::mix_order_reduction
