// Octets of a row at a time, every type and count a constant.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/formula.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/mix_order_reduction/code_text.hpp"
#include "kernels/mix_order_reduction/parameters.hpp"
#include "kernels/mix_order_reduction/printer.hpp"

namespace kiln::mix_order_reduction {
namespace {

using Uses = Printer::Uses;

std::string counts_text(const Program& program, const Shape& shape) {
  std::string out = fmt::format("  using Matrix = kiln::{};\n",
                                to_string(input_of(program, shape.matrices[0]).type));
  const auto count = [&](std::string_view name, std::size_t value) {
    out += fmt::format("  static constexpr int {} = {};\n", name, value);
  };
  count("kept_matrices", static_cast<std::size_t>(shape.kept_matrices));
  count("matrix_outputs", shape.outputs.size());
  count("row_vectors", shape.row_vectors.size());
  count("loaded_values", static_cast<std::size_t>(shape.loaded_values));
  count("row_values", shape.row_values.size());
  count("column_outputs", shape.column_outputs.size());
  count("column_sums", shape.column_sums.size());
  count("passes", shape.passes.size());
  return out + fmt::format("  static constexpr bool last_sums = {};\n", shape.last_sums());
}

// How many sums a pass has, as a power of two.
std::string row_sums_text(const Shape& shape) {
  std::vector<long long> counts;
  for (const RowPass& pass : shape.passes)
    counts.push_back(pow2_ceil(static_cast<long long>(pass.sums.size())));
  if (counts.empty()) counts.push_back(1);
  const bool one =
      std::all_of(counts.begin(), counts.end(), [&](long long c) { return c == counts[0]; });
  if (one) return fmt::format("  static constexpr int row_sums(int) {{ return {}; }}\n", counts[0]);
  return fmt::format(
      "  static constexpr int row_sums(int pass) {{\n    constexpr int counts[] = {{{}}};\n"
      "    return counts[pass];\n  }}\n",
      fmt::join(counts, ", "));
}

std::string row_vectors_text(const Program& program, const Shape& shape) {
  std::string out = "  struct RowVectors {\n", widen;
  std::vector<std::string> loads;
  for (std::size_t k = 0; k < shape.row_vectors.size(); ++k) {
    const std::string_view type = to_string(input_of(program, shape.row_vectors[k]).type);
    out += fmt::format("    kiln::Octet<kiln::{}> v{};\n", type, k);
    loads.push_back(fmt::format(
        "kiln::mix_order_reduction::load_vector_octet<C, kiln::{}>(p.row_vectors[{}], v, "
        "p.row_vector_access)",
        type,
        k));
    widen += fmt::format(" w[{0}] = v{0}.get(i);", k);
  }
  return out +
         fmt::format(
             "    template <class C>\n"
             "    static RowVectors load(const kiln::mix_order_reduction::ReductionParameters& p, "
             "int v) {{\n"
             "      return {{{}}};\n    }}\n"
             "    void widen(int i, float* w) const {{{} }}\n  }};\n",
             fmt::join(loads, ", "),
             widen);
}

// Neighbouring sums that finish alike do so together.
std::string finish_text(const Program& program, const Shape& shape) {
  std::string out =
      "  template <int Threads>\n  static void finish(const "
      "kiln::mix_order_reduction::ReductionParameters& p, int n, float* scratch) {\n";
  const auto sum = [&](int k) -> const ProgramTensor& {
    return output_of(program, shape.column_sums[static_cast<std::size_t>(k)]).tensor;
  };
  const auto alike = [&](int a, int b) {
    return sum(a).type == sum(b).type && sum(a).accumulate == sum(b).accumulate &&
           column_sum_of(program, shape, a).reduction == column_sum_of(program, shape, b).reduction;
  };
  const auto count = static_cast<int>(shape.column_sums.size());
  for (int from = 0, to = 0; from < count; from = to) {
    while (to < count && alike(from, to)) ++to;
    out += fmt::format(
        "    kiln::mix_order_reduction::finish_columns<kiln::{}, "
        "kiln::mix_order_reduction::Join::{}, {}, Threads>(p, {}, n, {}, scratch);\n",
        to_string(sum(from).type),
        to_string(column_sum_of(program, shape, from).reduction),
        to - from,
        from,
        sum(from).accumulate);
  }
  return out + "  }\n";
}

}  // namespace

bool has_functions(const Program& program) {
  return std::any_of(program.nodes.begin(), program.nodes.end(), [](const Node& node) {
    return is_elementary(node.kind);
  });
}

std::string fused_formula(const Program& program, const Shape& shape) {
  const Printer printer(program, shape);
  const auto passes = static_cast<int>(shape.passes.size());
  std::string out = "struct Formula {\n" + counts_text(program, shape) + row_sums_text(shape);
  out += joins_text("join", row_joins(shape));
  out += joins_text("column_join", column_joins(program, shape));
  out += row_vectors_text(program, shape);
  if (shape.loaded_values > 0) out += loaded_value_text(program, shape);
  if (!shape.column_outputs.empty()) out += write_row_text(program, shape);
  out += chosen_text(kKnow, passes + 1, [&](int i) { return printer.know(i); });
  out += chosen_text(fmt::format("reduce({}, float* s, float* q)", kOperands), passes, [&](int i) {
    return printer.element({.row_pass = i, .column_pass = i});
  });
  out += fmt::format("  static void last({}, float* q, float* o) {{\n{}  }}\n",
                     kOperands,
                     printer.element({.outputs = true, .column_pass = passes}));
  if (!shape.column_sums.empty()) out += finish_text(program, shape);
  return out + "};\n";
}

}  // namespace kiln::mix_order_reduction
