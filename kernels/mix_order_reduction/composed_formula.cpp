// Elements one at a time, with every type an argument.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/composed_formula.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/mix_order_reduction/code_text.hpp"
#include "src/core/digest.hpp"

namespace kiln::mix_order_reduction {
namespace {

using Kind = Node::Kind;
using Uses = Printer::Uses;

// How a part goes over the elements of a row, the last time included.
std::vector<Uses> uses_of(const Shape& shape, Part part) {
  std::vector<Uses> out;
  if (part == Part::rows || sums_need_passes(shape)) {
    for (int pass = 0; pass < static_cast<int>(shape.passes.size()); ++pass)
      out.push_back({.row_pass = pass});
  }
  if (part == Part::rows) {
    out.push_back({.outputs = true});
  } else {
    out.push_back({.column_pass = Uses::kAll});
  }
  return out;
}

// The nodes that elements of a part read or compute.
std::vector<bool> read(const Program& program, const Shape& shape, Part part) {
  const Printer printer(program, shape);
  std::vector<bool> out(program.nodes.size(), false);
  for (const Uses& uses : uses_of(shape, part)) {
    const std::vector<bool> one = printer.read(uses);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] || one[i];
  }
  return out;
}

std::string load_text(const Program& program, const Shape& shape, const std::vector<bool>& wanted) {
  std::string out;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Node& node = program.nodes[i];
    if (!wanted[i] || node.kind != Kind::input) continue;
    const ProgramTensor& t = input_of(program, node.tensor);
    if (t.extent == Extent::matrix) {
      out += fmt::format("    m[{}] = composed_matrix(p, {}, row, column);\n",
                         position(shape.matrices, node.tensor),
                         position(shape.matrices, node.tensor));
    } else if (t.extent == Extent::row) {
      out += fmt::format("    v[{}] = composed_vector(p, {}, column);\n",
                         position(shape.row_vectors, node.tensor),
                         position(shape.row_vectors, node.tensor));
    }
  }
  return out;
}

std::string write_text(const Shape& shape) {
  std::string out =
      "  static void write(const ReductionParameters& p, long long row, long long column, const "
      "float* o) {\n";
  for (std::size_t k = 0; k < shape.outputs.size(); ++k) {
    out += fmt::format(
        "    store_element(p.outputs[{0}].base, row * p.outputs[{0}].stride + column, "
        "p.output_types[{0}], o[{0}]);\n",
        k);
  }
  return out + "  }\n";
}

}  // namespace

bool sums_need_passes(const Shape& shape) {
  return std::any_of(
      shape.sum_pass.begin(), shape.sum_pass.end(), [](int pass) { return pass > 0; });
}

std::string_view composed_body(const Shape& shape, Part part) {
  if (part == Part::rows) return "composed_rows";
  return sums_need_passes(shape) ? "composed_blocks" : "composed_columns";
}

std::string composed_formula(const Program& program,
                             const Shape& shape,
                             Part part,
                             std::string_view name) {
  const Printer printer(program, shape);
  const bool rows = part == Part::rows;
  const bool with_passes = uses_of(shape, part).size() > 1;
  const int passes = with_passes ? static_cast<int>(shape.passes.size()) : 0;
  const auto at_least_one = [](std::size_t count) { return std::max<std::size_t>(count, 1); };
  std::size_t row_sums = 1;
  for (const RowPass& pass : shape.passes)
    row_sums = std::max(row_sums, with_passes ? pass.sums.size() : 1);
  std::string out = fmt::format(
      "struct {} {{\n"
      "  static constexpr int matrices = {}, row_vectors = {}, row_values = {}, row_sums = {};\n"
      "  static constexpr int passes = {}, outputs = {}, column_sums = {};\n",
      name,
      at_least_one(shape.matrices.size()),
      at_least_one(shape.row_vectors.size()),
      at_least_one(shape.row_values.size()),
      row_sums,
      passes,
      at_least_one(shape.outputs.size()),
      at_least_one(shape.column_sums.size()));
  if (passes > 0) out += joins_text("join", row_joins(shape));
  if (!rows) out += joins_text("column_join", column_joins(program, shape));
  out += fmt::format(
      "  static void load(const ReductionParameters& p, long long row, long long column, float* m, "
      "float* v) {{\n{}  }}\n",
      load_text(program, shape, read(program, shape, part)));
  out += load_row_text(program, shape);
  out += chosen_text(kKnow, passes + 1, [&](int i) { return printer.know(i); });
  out += chosen_text(fmt::format("reduce({}, float* s)", kOperands), passes, [&](int i) {
    return printer.element({.row_pass = i});
  });
  if (rows) {
    out += fmt::format("  static void output({}, float* o) {{\n{}  }}\n",
                       kOperands,
                       printer.element({.outputs = true}));
    out += write_text(shape) + write_row_text(program, shape);
  } else {
    out += fmt::format("  static void add_columns({}, float* q) {{\n{}  }}\n",
                       kOperands,
                       printer.element({.column_pass = Uses::kAll}));
  }
  return out + "};\n";
}

std::string composed_entry(std::string_view op,
                           const Program& program,
                           const Shape& shape,
                           Part part) {
  const std::string text = composed_formula(program, shape, part, "");
  return fmt::format(
      "{}_{}_{}", op, part == Part::rows ? "rows" : "columns", hex(sha256(text)).substr(0, 8));
}

}  // namespace kiln::mix_order_reduction
