// Sorting a program's tensors, and dealing its reductions to passes.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/shape.hpp"

#include <algorithm>

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
const ColumnSum& column_sum_of(const Program& program, const Shape& shape, int sum) {
  const int output = shape.column_sums[static_cast<std::size_t>(sum)];
  return program.column_sums[static_cast<std::size_t>(output_of(program, output).column_sum)];
}

std::vector<bool> needed(const Program& program,
                         const std::vector<int>& roots,
                         const std::function<bool(int)>& known) {
  std::vector<bool> out(program.nodes.size(), false);
  for (const int root : roots) out[static_cast<std::size_t>(root)] = true;
  for (std::size_t i = program.nodes.size(); i-- > 0;) {
    const Node& node = program.nodes[i];
    if (!out[i] || known(static_cast<int>(i))) continue;
    for (const int operand : {node.a, node.b, node.c}) {
      if (operand >= 0) out[static_cast<std::size_t>(operand)] = true;
    }
  }
  return out;
}

namespace {

void add_operands(int a, int b, std::vector<int>& out) {
  out.push_back(a);
  if (b >= 0) out.push_back(b);
}

}  // namespace

std::vector<int> row_summands(const Program& program, const Shape& shape, int pass) {
  std::vector<int> out;
  for (const int sum : shape.passes[static_cast<std::size_t>(pass)].sums)
    add_operands(node_of(program, sum).a, node_of(program, sum).b, out);
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

int Shape::most_row_sums() const {
  std::size_t most = 1;
  for (const RowPass& pass : passes) most = std::max(most, pass.sums.size());
  return static_cast<int>(pow2_ceil(static_cast<long long>(most)));
}

bool Shape::last_sums() const {
  return std::count(sum_pass.begin(), sum_pass.end(), static_cast<int>(passes.size())) > 0;
}

namespace {

void check_limit(std::string_view what, std::size_t count, int most) {
  if (count <= static_cast<std::size_t>(most)) return;
  throw Error(ErrorCode::invalid_source,
              fmt::format("a reduction of {} {}; {} are served", count, what, most));
}

void check_limits(const Shape& shape) {
  check_limit("input matrices", shape.matrices.size(), kMaxMatrices);
  check_limit("output matrices", shape.outputs.size(), kMaxMatrixOutputs);
  check_limit("row vectors", shape.row_vectors.size(), kMaxVectors);
  check_limit("column vectors", shape.column_vectors.size(), kMaxVectors);
  check_limit("scalars", shape.scalars.size(), kMaxVectors);
  check_limit("column outputs", shape.column_outputs.size(), kMaxVectors);
  check_limit("column reductions", shape.column_sums.size(), kMaxVectors);
  for (const RowPass& pass : shape.passes)
    check_limit("row reductions of one kind and pass", pass.sums.size(), kMaxVectors);
}

void sort_tensors(const Program& program, Shape& shape) {
  for (int i = 0; i < static_cast<int>(program.inputs.size()); ++i) {
    switch (input_of(program, i).extent) {
      case Extent::matrix:
        shape.matrices.push_back(i);
        break;
      case Extent::row:
        shape.row_vectors.push_back(i);
        break;
      case Extent::column:
        shape.column_vectors.push_back(i);
        break;
      case Extent::scalar:
        shape.scalars.push_back(i);
        break;
    }
  }
  for (int o = 0; o < static_cast<int>(program.outputs.size()); ++o) {
    const Output& output = output_of(program, o);
    if (output.column_sum >= 0) {
      shape.column_sums.push_back(o);
    } else if (output.tensor.extent == Extent::matrix) {
      shape.outputs.push_back(o);
    } else {
      shape.column_outputs.push_back(o);
    }
  }
}

// Reductions that need equally many others before them go together, those of one kind.
void deal_passes(const Program& program, Shape& shape) {
  std::vector<int> pass_of(program.nodes.size(), -1);
  for (int phase = 1; phase <= program.phases; ++phase) {
    for (const Reduction reduction :
         {Reduction::sum, Reduction::min, Reduction::max, Reduction::absmax}) {
      RowPass pass{reduction, {}};
      for (int i = 0; i < static_cast<int>(program.nodes.size()); ++i) {
        const Node& node = node_of(program, i);
        if (node.kind != Kind::row_sum || node.phase != phase || node.reduction != reduction)
          continue;
        pass.sums.push_back(i);
        pass_of[static_cast<std::size_t>(i)] = static_cast<int>(shape.passes.size());
      }
      if (!pass.sums.empty()) shape.passes.push_back(std::move(pass));
    }
  }
  shape.ready.assign(program.nodes.size(), 0);
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    int ready = pass_of[i] + 1;
    if (node.kind != Kind::row_sum) {
      for (const int operand : {node.a, node.b, node.c}) {
        if (operand >= 0) ready = std::max(ready, shape.ready[static_cast<std::size_t>(operand)]);
      }
    }
    shape.ready[i] = ready;
  }
  for (std::size_t k = 0; k < shape.column_sums.size(); ++k) {
    const ColumnSum& sum = column_sum_of(program, shape, static_cast<int>(k));
    int ready = shape.ready[static_cast<std::size_t>(sum.a)];
    if (sum.b >= 0) ready = std::max(ready, shape.ready[static_cast<std::size_t>(sum.b)]);
    shape.sum_pass.push_back(ready);
  }
}

// One value a row, and used by elements, by later values of the row, or by an output.
void find_row_values(const Program& program, Shape& shape) {
  std::vector<bool> used(program.nodes.size(), false);
  const auto use = [&](int i) {
    if (i >= 0 && node_of(program, i).extent == Extent::column)
      used[static_cast<std::size_t>(i)] = true;
  };
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    const bool element = node.extent == Extent::matrix || node.kind == Kind::row_sum;
    if (node.kind == Kind::input && node.extent == Extent::column) used[i] = true;
    for (const int operand : {node.a, node.b, node.c}) {
      if (operand < 0) continue;
      const bool later = shape.ready[static_cast<std::size_t>(operand)] < shape.ready[i];
      if (element || later) use(operand);
    }
  }
  for (const ColumnSum& sum : program.column_sums) {
    use(sum.a);
    use(sum.b);
  }
  for (const int o : shape.column_outputs) use(output_of(program, o).node);
  for (const bool input : {true, false}) {
    for (int i = 0; i < static_cast<int>(program.nodes.size()); ++i) {
      const bool is_input = node_of(program, i).kind == Kind::input;
      if (used[static_cast<std::size_t>(i)] && is_input == input) shape.row_values.push_back(i);
    }
    if (input) shape.loaded_values = static_cast<int>(shape.row_values.size());
  }
}

}  // namespace

Shape shape_of(const Program& program) {
  Shape shape;
  sort_tensors(program, shape);
  deal_passes(program, shape);
  find_row_values(program, shape);
  check_limits(shape);
  std::vector<int> roots;
  const auto passes = static_cast<int>(shape.passes.size());
  for (int pass = 0; pass < passes; ++pass) {
    for (const int root : row_summands(program, shape, pass)) roots.push_back(root);
  }
  for (std::size_t k = 0; k < shape.column_sums.size(); ++k) {
    const ColumnSum& sum = column_sum_of(program, shape, static_cast<int>(k));
    if (shape.sum_pass[k] < passes) add_operands(sum.a, sum.b, roots);
  }
  const std::vector<bool> in_passes =
      needed(program, roots, [&](int i) { return node_of(program, i).extent == Extent::column; });
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    if (!in_passes[i] || node.kind != Kind::input || node.extent != Extent::matrix) continue;
    const auto place = static_cast<int>(position(shape.matrices, node.tensor));
    shape.kept_matrices = std::max(shape.kept_matrices, place + 1);
  }
  return shape;
}

}  // namespace kiln::mix_order_reduction
