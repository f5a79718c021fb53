// Text with full names, so that it stands in a generated file and in composed.cu alike.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/code_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kiln::mix_order_reduction {

std::string chosen_text(std::string_view head,
                        int count,
                        const std::function<std::string(int)>& body) {
  std::string out = fmt::format("  template <int Which>\n  static void {} {{\n", head);
  for (int i = 0; i < count; ++i) {
    const std::string text = body(i);
    if (text.empty()) continue;
    out +=
        count == 1 ? text : fmt::format("    if constexpr (Which == {}) {{\n{}    }}\n", i, text);
  }
  return out + "  }\n";
}

std::string joins_text(std::string_view function, const std::vector<Reduction>& joins) {
  constexpr std::string_view kJoin = "kiln::mix_order_reduction::Join";
  bool one = true;
  for (const Reduction join : joins) one = one && join == joins[0];
  const std::string first =
      fmt::format("{}::{}", kJoin, to_string(joins.empty() ? Reduction::sum : joins[0]));
  if (one)
    return fmt::format("  static constexpr {} {}(int) {{ return {}; }}\n", kJoin, function, first);
  std::vector<std::string> names;
  for (const Reduction join : joins) names.push_back(fmt::format("{}::{}", kJoin, to_string(join)));
  return fmt::format(
      "  static constexpr {0} {1}(int k) {{\n    constexpr {0} joins[] = {{{2}}};\n    return "
      "joins[k];\n  }}\n",
      kJoin,
      function,
      fmt::join(names, ", "));
}

std::string load_row_text(const Program& program, const Shape& shape) {
  std::string out =
      "  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long "
      "row, float* c) {\n";
  for (int k = 0; k < shape.loaded_values; ++k) {
    const Node& node = node_of(program, shape.row_values[static_cast<std::size_t>(k)]);
    out += fmt::format(
        "    c[{}] = p.column_vectors[{}][row];\n", k, position(shape.column_vectors, node.tensor));
  }
  return out + "  }\n";
}

std::string loaded_value_text(const Program& program, const Shape& shape) {
  std::string out =
      "  static const float* loaded_value(const kiln::mix_order_reduction::ReductionParameters& p, "
      "int k) {\n";
  for (int k = 0; k < shape.loaded_values; ++k) {
    const Node& node = node_of(program, shape.row_values[static_cast<std::size_t>(k)]);
    out += fmt::format("    {}return p.column_vectors[{}];\n",
                       k + 1 < shape.loaded_values ? fmt::format("if (k == {}) ", k) : "",
                       position(shape.column_vectors, node.tensor));
  }
  return out + "  }\n";
}

std::string write_row_text(const Program& program, const Shape& shape) {
  std::string out =
      "  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long "
      "row, const float* c) {\n";
  for (std::size_t k = 0; k < shape.column_outputs.size(); ++k) {
    out +=
        fmt::format("    p.column_outputs[{}][row] = c[{}];\n",
                    k,
                    position(shape.row_values, output_of(program, shape.column_outputs[k]).node));
  }
  return out + "  }\n";
}

std::vector<Reduction> row_joins(const Shape& shape) {
  std::vector<Reduction> out;
  for (const RowPass& pass : shape.passes) out.push_back(pass.reduction);
  return out;
}

std::vector<Reduction> column_joins(const Program& program, const Shape& shape) {
  std::vector<Reduction> out;
  for (int k = 0; k < static_cast<int>(shape.column_sums.size()); ++k)
    out.push_back(column_sum_of(program, shape, k).reduction);
  return out;
}

}  // namespace kiln::mix_order_reduction
