// What kernels need to know of a program, and which parts of it a sum or an output needs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/shape.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/parameters.hpp"

namespace kiln::mix_order_reduction {

using Kind = Node::Kind;

const Node& node_of(const Program& program, int i) {
  return program.nodes[static_cast<std::size_t>(i)];
}
const ProgramTensor& input_of(const Program& program, int i) {
  return program.inputs[static_cast<std::size_t>(i)];
}
const Output& output_of(const Program& program, int i) {
  return program.outputs[static_cast<std::size_t>(i)];
}

std::vector<bool> needed(const Program& program, const std::vector<int>& roots, bool sums_known) {
  std::vector<bool> out(program.nodes.size(), false);
  for (const int root : roots) out[static_cast<std::size_t>(root)] = true;
  for (std::size_t i = program.nodes.size(); i-- > 0;) {
    const Node& node = program.nodes[i];
    if (!out[i] || (sums_known && node.kind == Kind::row_sum)) continue;
    for (const int operand : {node.a, node.b, node.c}) {
      if (operand >= 0) out[static_cast<std::size_t>(operand)] = true;
    }
  }
  return out;
}

std::vector<int> summands(const Program& program, const Shape& shape, bool rows, bool columns) {
  std::vector<int> out;
  const auto add = [&](int a, int b) {
    out.push_back(a);
    if (b >= 0) out.push_back(b);
  };
  for (const int sum : shape.row_sums) {
    if (rows) add(node_of(program, sum).a, node_of(program, sum).b);
  }
  for (const int o : shape.column_sums) {
    const ColumnSum& sum =
        program.column_sums[static_cast<std::size_t>(output_of(program, o).column_sum)];
    if (columns) add(sum.a, sum.b);
  }
  return out;
}

std::vector<int> written(const Program& program, const Shape& shape) {
  std::vector<int> out;
  for (const int o : shape.outputs) out.push_back(output_of(program, o).node);
  return out;
}

std::size_t position(const std::vector<int>& list, int value) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

namespace {

[[noreturn]] void unserved(std::string_view what) {
  throw Error(ErrorCode::internal, fmt::format("no kernel serves {} yet", what));
}

void check_limits(const Shape& shape) {
  const bool fits =
      shape.matrices.size() <= kMaxMatrices && shape.outputs.size() <= kMaxMatrixOutputs &&
      shape.row_vectors.size() <= kMaxVectors && shape.column_vectors.size() <= kMaxVectors &&
      shape.column_sums.size() <= kMaxVectors;
  if (!fits) unserved("a reduction with so many tensors");
  if (shape.outputs.empty()) unserved("a reduction without a matrix output");
  // Trees over lanes take a power of two.
  if (!std::has_single_bit(shape.row_sums.size()) || shape.row_sums.size() > 4)
    unserved(fmt::format("a reduction with {} row sums", shape.row_sums.size()));
}

void add_outputs(const Program& program, Shape& shape) {
  for (int o = 0; o < static_cast<int>(program.outputs.size()); ++o) {
    const Output& output = output_of(program, o);
    if (output.column_sum >= 0) {
      if (!shape.column_sums.empty() &&
          (shape.sum != output.tensor.type || shape.accumulate != output.tensor.accumulate)) {
        unserved("column outputs of several kinds");
      }
      shape.sum = output.tensor.type;
      shape.accumulate = output.tensor.accumulate;
      shape.column_sums.push_back(o);
    } else if (output.tensor.extent == Extent::matrix) {
      if (output.tensor.type != shape.matrix) unserved("matrices of several types");
      shape.outputs.push_back(o);
    } else {
      unserved("a column vector as an output");
    }
  }
}

}  // namespace

Shape shape_of(const Program& program) {
  Shape shape;
  if (program.phases > 1) unserved("a sum that needs another sum");
  for (int i = 0; i < static_cast<int>(program.nodes.size()); ++i) {
    if (node_of(program, i).kind == Kind::row_sum) shape.row_sums.push_back(i);
  }
  bool first = true;
  for (int i = 0; i < static_cast<int>(program.inputs.size()); ++i) {
    const ProgramTensor& t = input_of(program, i);
    if (t.extent == Extent::matrix) {
      if (!first && t.type != shape.matrix) unserved("matrices of several types");
      first = false;
      shape.matrix = t.type;
      shape.matrices.push_back(i);
    } else if (t.extent == Extent::row) {
      shape.row_vectors.push_back(i);
    } else {
      if (t.type != DType::f32) unserved("a column vector that is not f32");
      shape.column_vectors.push_back(i);
    }
  }
  add_outputs(program, shape);
  check_limits(shape);
  for (const int root : summands(program, shape, false, true)) {
    if (node_of(program, root).phase > 0) unserved("a column sum of what row sums give");
  }
  const std::vector<bool> in_sums = needed(program, summands(program, shape, true, true), true);
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    if (!in_sums[i] || node.kind != Kind::input || node.extent != Extent::matrix) continue;
    const auto place = static_cast<int>(position(shape.matrices, node.tensor));
    shape.kept_matrices = std::max(shape.kept_matrices, place + 1);
  }
  return shape;
}

}  // namespace kiln::mix_order_reduction
