// What kernels need to know of a program: its tensors by extent, and the passes over a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "kernels/mix_order_reduction/program.hpp"

namespace kiln::mix_order_reduction {

// One pass over a row: reductions of one kind, which passes before it do not need.
struct RowPass {
  Reduction reduction = Reduction::sum;
  std::vector<int> sums;  // of Program::nodes
};

// What the fused kernel needs to know of a program, and the planner of its cost.
struct Shape {
  // Of Program::inputs. Matrices: the first `kept_matrices` hold all that passes need.
  std::vector<int> matrices, row_vectors, column_vectors, scalars;
  int kept_matrices = 0;
  // Of Program::outputs.
  std::vector<int> outputs;  // matrices
  std::vector<int> column_outputs;
  std::vector<int> column_sums;
  // Over a row; then one more that writes the matrices.
  std::vector<RowPass> passes;
  // A node: passes that must be over before it is known.
  std::vector<int> ready;
  // A column sum: the pass that adds to it; passes.size() is the one that writes.
  std::vector<int> sum_pass;
  // Nodes with one value a row that outlive the pass that gives them; the first `loaded_values` are
  // elements of column vectors.
  std::vector<int> row_values;
  int loaded_values = 0;

  // Row sums of the pass that has most, as a power of two: trees over lanes take that.
  [[nodiscard]] int most_row_sums() const;
  // Whether column sums need the pass that writes the matrices.
  [[nodiscard]] bool last_sums() const;
};

// Throws Error{invalid_source} for more tensors or sums than parameters.hpp holds.
[[nodiscard]] Shape shape_of(const Program& program);

[[nodiscard]] const Node& node_of(const Program& program, int i);
[[nodiscard]] const ProgramTensor& input_of(const Program& program, int i);
[[nodiscard]] const Output& output_of(const Program& program, int i);
[[nodiscard]] const ColumnSum& column_sum_of(const Program& program, const Shape& shape, int sum);

// The nodes that the roots need; what `known` nodes need is left out.
[[nodiscard]] std::vector<bool> needed(const Program& program,
                                       const std::vector<int>& roots,
                                       const std::function<bool(int)>& known);
// What the row sums of a pass reduce; what the matrix outputs are.
[[nodiscard]] std::vector<int> row_summands(const Program& program, const Shape& shape, int pass);
[[nodiscard]] std::vector<int> written(const Program& program, const Shape& shape);
// Where a value is in a list; its size when it is not there.
[[nodiscard]] std::size_t position(const std::vector<int>& list, int value);

}  // namespace kiln::mix_order_reduction
