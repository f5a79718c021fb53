// Prints statements in the order of the nodes, each node that is needed once.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/printer.hpp"

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln::mix_order_reduction {

using Kind = Node::Kind;

bool Printer::row_value(int i) const { return node_of(program_, i).extent == Extent::column; }

bool Printer::adds(const Uses& uses, std::size_t column_sum) const {
  return uses.column_pass == Uses::kAll || shape_.sum_pass[column_sum] == uses.column_pass;
}

std::vector<int> Printer::roots(const Uses& uses) const {
  std::vector<int> out;
  const auto add = [&](int a, int b) {
    out.push_back(a);
    if (b >= 0) out.push_back(b);
  };
  if (uses.row_pass >= 0) out = row_summands(program_, shape_, uses.row_pass);
  for (std::size_t k = 0; k < shape_.column_sums.size(); ++k) {
    const ColumnSum& sum = column_sum_of(program_, shape_, static_cast<int>(k));
    if (adds(uses, k)) add(sum.a, sum.b);
  }
  if (uses.outputs) {
    for (const int root : written(program_, shape_)) out.push_back(root);
  }
  return out;
}

std::vector<bool> Printer::read(const Uses& uses) const {
  return needed(program_, roots(uses), [&](int i) { return row_value(i); });
}

std::string Printer::element(const Uses& uses) const {
  std::string out = statements(roots(uses), [&](int i) { return row_value(i); });
  if (uses.row_pass >= 0) {
    const RowPass& pass = shape_.passes[static_cast<std::size_t>(uses.row_pass)];
    for (std::size_t k = 0; k < pass.sums.size(); ++k) {
      const Node& sum = node_of(program_, pass.sums[k]);
      out += join(pass.reduction, fmt::format("s[{}]", k), sum.a, sum.b);
    }
  }
  for (std::size_t k = 0; k < shape_.column_sums.size(); ++k) {
    const ColumnSum& sum = column_sum_of(program_, shape_, static_cast<int>(k));
    if (adds(uses, k)) out += join(sum.reduction, fmt::format("q[{}]", k), sum.a, sum.b);
  }
  const std::vector<int> outputs = written(program_, shape_);
  for (std::size_t k = 0; uses.outputs && k < outputs.size(); ++k)
    out += fmt::format("    o[{}] = {};\n", k, name(outputs[k]));
  return out;
}

std::string Printer::know(int passes) const {
  std::vector<int> roots;
  for (const int i : shape_.row_values) {
    const bool now = shape_.ready[static_cast<std::size_t>(i)] == passes;
    if (now && node_of(program_, i).kind != Kind::input) roots.push_back(i);
  }
  if (roots.empty()) return {};
  passes_ = passes;
  std::string out = statements(roots, [&](int i) {
    const bool before = shape_.ready[static_cast<std::size_t>(i)] < passes;
    return (row_value(i) && before) || node_of(program_, i).kind == Kind::row_sum;
  });
  std::string stores;
  for (const int i : roots)
    stores += fmt::format("    c[{}] = {};\n", position(shape_.row_values, i), name(i));
  passes_ = -1;
  return out + stores;
}

std::string Printer::statements(const std::vector<int>& roots, const Known& known) const {
  const std::vector<bool> wanted = needed(program_, roots, known);
  local_.assign(wanted.size(), -1);
  int count = 0;
  std::string out;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Node& node = program_.nodes[i];
    if (!wanted[i] || known(static_cast<int>(i)) || node.kind == Kind::input ||
        node.kind == Kind::constant || node.kind == Kind::inverse_n) {
      continue;
    }
    out += fmt::format("    const {} t{} = {};\n",
                       is_condition(node.kind) ? "bool" : "float",
                       count,
                       operation(node));
    local_[i] = count++;
  }
  return out;
}

std::string Printer::join(Reduction reduction, std::string_view into, int a, int b) const {
  if (b >= 0) return fmt::format("    {0} = __fmaf_rn({1}, {2}, {0});\n", into, name(a), name(b));
  std::string_view function = "__fadd_rn";
  if (reduction == Reduction::min) function = "kiln::minimum";
  if (reduction == Reduction::max || reduction == Reduction::absmax) function = "kiln::maximum";
  return fmt::format("    {0} = {1}({0}, {2});\n", into, function, name(a));
}

std::string Printer::name(int i) const {
  const Node& node = node_of(program_, i);
  const int ready = shape_.ready[static_cast<std::size_t>(i)];
  if (node.kind == Kind::constant) return fmt::format("{:a}f", node.constant);
  if (node.kind == Kind::inverse_n) return "inverse_n";
  if (node.extent == Extent::column) {
    if (passes_ < 0 || ready < passes_ || node.kind == Kind::input)
      return fmt::format("c[{}]", position(shape_.row_values, i));
    if (node.kind == Kind::row_sum) {
      const RowPass& pass = shape_.passes[static_cast<std::size_t>(ready - 1)];
      return fmt::format("s[{}]", position(pass.sums, i));
    }
  }
  return node.kind == Kind::input ? input(node.tensor)
                                  : fmt::format("t{}", local_[static_cast<std::size_t>(i)]);
}

std::string Printer::input(int tensor) const {
  switch (input_of(program_, tensor).extent) {
    case Extent::matrix:
      return fmt::format("m[{}]", position(shape_.matrices, tensor));
    case Extent::row:
      return fmt::format("v[{}]", position(shape_.row_vectors, tensor));
    case Extent::scalar:
      return fmt::format("u[{}]", position(shape_.scalars, tensor));
    case Extent::column:
      break;
  }
  throw Error(ErrorCode::internal, "a column vector is a row value");
}

std::string Printer::operation(const Node& node) const {
  const auto call = [&](std::string_view function) {
    std::string out = fmt::format("{}({}", function, name(node.a));
    for (const int operand : {node.b, node.c}) {
      if (operand >= 0) out += fmt::format(", {}", name(operand));
    }
    return out + ")";
  };
  const auto infix = [&](std::string_view token) {
    return fmt::format("{} {} {}", name(node.a), token, name(node.b));
  };
  switch (node.kind) {
    case Kind::negate:
      return fmt::format("-{}", name(node.a));
    case Kind::abs:
      return call("kiln::absolute");
    case Kind::sqrt:
      return call("__fsqrt_rn");
    case Kind::exp:
      return call("kiln::mix_order_reduction::Functions::exp");
    case Kind::log:
      return call("kiln::mix_order_reduction::Functions::log");
    case Kind::tanh:
      return call("kiln::mix_order_reduction::Functions::tanh");
    case Kind::sigmoid:
      return call("kiln::mix_order_reduction::Functions::sigmoid");
    case Kind::erf:
      return call("kiln::mix_order_reduction::Functions::erf");
    case Kind::round:
      return fmt::format(
          "kiln::{0}::load(kiln::{0}::round({1}))", to_string(node.type), name(node.a));
    case Kind::add:
      return call("__fadd_rn");
    case Kind::subtract:
      return call("__fsub_rn");
    case Kind::multiply:
      return call("__fmul_rn");
    case Kind::divide:
      return call("__fdiv_rn");
    case Kind::min:
      return call("kiln::minimum");
    case Kind::max:
      return call("kiln::maximum");
    case Kind::less:
      return infix("<");
    case Kind::less_equal:
      return infix("<=");
    case Kind::equal:
      return infix("==");
    case Kind::not_equal:
      return infix("!=");
    case Kind::fma:
      return call("__fmaf_rn");
    case Kind::select:
      return fmt::format("{} ? {} : {}", name(node.a), name(node.b), name(node.c));
    case Kind::input:
    case Kind::constant:
    case Kind::inverse_n:
    case Kind::row_sum:
      break;
  }
  throw Error(ErrorCode::internal, "not an operation on elements");
}

}  // namespace kiln::mix_order_reduction
