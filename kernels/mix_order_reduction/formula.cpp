// Prints operations as CUDA: one statement a node, every rounding spelled out.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/formula.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/parameters.hpp"

namespace kiln::mix_order_reduction {
namespace {

using Kind = Node::Kind;

std::string_view device_type(DType type) { return to_string(type); }

// ---- elements

class Printer {
 public:
  Printer(const Program& program, const Shape& shape) : program_(program), shape_(shape) {}

  [[nodiscard]] std::string reduce(bool rows, bool columns) const {
    std::string out = statements(needed(program_, summands(program_, shape_, rows, columns), true));
    const auto add = [&](std::string_view sum, int a, int b) {
      out += b < 0 ? fmt::format("    {0} = __fadd_rn({0}, {1});\n", sum, name(a))
                   : fmt::format("    {0} = __fmaf_rn({1}, {2}, {0});\n", sum, name(a), name(b));
    };
    for (std::size_t k = 0; k < shape_.row_sums.size(); ++k) {
      const Node& sum = node_of(program_, shape_.row_sums[k]);
      if (rows) add(fmt::format("s[{}]", k), sum.a, sum.b);
    }
    for (std::size_t k = 0; k < shape_.column_sums.size(); ++k) {
      const int of = output_of(program_, shape_.column_sums[k]).column_sum;
      const ColumnSum& sum = program_.column_sums[static_cast<std::size_t>(of)];
      if (columns) add(fmt::format("q[{}]", k), sum.a, sum.b);
    }
    return out;
  }

  [[nodiscard]] std::string output() const {
    const std::vector<int> roots = written(program_, shape_);
    std::string out = statements(needed(program_, roots, true));
    for (std::size_t k = 0; k < roots.size(); ++k)
      out += fmt::format("    o[{}] = {};\n", k, name(roots[k]));
    return out;
  }

 private:
  [[nodiscard]] std::string statements(const std::vector<bool>& wanted) const {
    std::string out;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Node& node = program_.nodes[i];
      if (!wanted[i] || node.kind == Kind::input || node.kind == Kind::constant ||
          node.kind == Kind::inverse_n || node.kind == Kind::row_sum) {
        continue;
      }
      out += fmt::format("    const {} t{} = {};\n",
                         is_condition(node.kind) ? "bool" : "float",
                         i,
                         operation(node));
    }
    return out;
  }

  [[nodiscard]] std::string name(int i) const {
    const Node& node = node_of(program_, i);
    switch (node.kind) {
      case Kind::input:
        return input(node.tensor);
      case Kind::constant:
        return fmt::format("{:a}f", node.constant);
      case Kind::inverse_n:
        return "inverse_n";
      case Kind::row_sum:
        return fmt::format("s[{}]", position(shape_.row_sums, i));
      default:
        return fmt::format("t{}", i);
    }
  }

  [[nodiscard]] std::string input(int tensor) const {
    switch (input_of(program_, tensor).extent) {
      case Extent::matrix:
        return fmt::format("m[{}]", position(shape_.matrices, tensor));
      case Extent::row:
        return fmt::format("v[{}]", position(shape_.row_vectors, tensor));
      case Extent::column:
        return fmt::format("c[{}]", position(shape_.column_vectors, tensor));
      case Extent::scalar:
        break;
    }
    throw Error(ErrorCode::internal, "a scalar input");
  }

  [[nodiscard]] std::string operation(const Node& node) const {
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
      case Kind::round:
        return fmt::format(
            "kiln::{0}::load(kiln::{0}::round({1}))", device_type(node.type), name(node.a));
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

  const Program& program_;
  const Shape& shape_;
};

constexpr std::string_view kReduce =
    "  static void reduce(const float* m, const float* v, const float* c, float inverse_n, "
    "float* s, float* q) {\n";
constexpr std::string_view kOutput =
    "  static void output(const float* m, const float* v, const float* c, float inverse_n, "
    "const float* s, float* o) {\n";

// ---- shapes

}  // namespace

std::string fused_formula(const Program& program, const Shape& shape) {
  const Printer printer(program, shape);
  std::string out = fmt::format(R"(struct Formula {{
  using Matrix = kiln::{matrix};
  using Sum = kiln::{sum};
  static constexpr int kept_matrices = {kept};
  static constexpr int matrix_outputs = {outputs};
  static constexpr int row_vectors = {row_vectors};
  static constexpr int column_vectors = {column_vectors};
  static constexpr int column_sums = {column_sums};
  struct RowVectors {{
)",
                                fmt::arg("matrix", device_type(shape.matrix)),
                                fmt::arg("sum", device_type(shape.sum)),
                                fmt::arg("kept", shape.kept_matrices),
                                fmt::arg("outputs", shape.outputs.size()),
                                fmt::arg("row_vectors", shape.row_vectors.size()),
                                fmt::arg("column_vectors", shape.column_vectors.size()),
                                fmt::arg("column_sums", shape.column_sums.size()));
  std::vector<std::string> loads;
  std::string widen;
  for (std::size_t k = 0; k < shape.row_vectors.size(); ++k) {
    const std::string_view type = device_type(input_of(program, shape.row_vectors[k]).type);
    out += fmt::format("    kiln::Octet<kiln::{}> v{};\n", type, k);
    loads.push_back(fmt::format(
        "kiln::mix_order_reduction::load_vector_octet<C, kiln::{}>(p.row_vectors[{}], v, "
        "p.row_vector_access)",
        type,
        k));
    widen += fmt::format(" w[{0}] = v{0}.get(i);", k);
  }
  out += fmt::format(
      "    template <class C>\n"
      "    static RowVectors load(const kiln::mix_order_reduction::ReductionParameters& p, int v) "
      "{{\n"
      "      return {{{}}};\n    }}\n"
      "    void widen(int i, float* w) const {{{} }}\n  }};\n",
      fmt::join(loads, ", "),
      widen);
  out += kReduce;
  out += printer.reduce(true, true) + "  }\n";
  out += kOutput;
  out += printer.output() + "  }\n};\n";
  return out;
}

std::string composed_formula(const Program& program,
                             const Shape& shape,
                             Part part,
                             std::string_view name) {
  const Printer printer(program, shape);
  const bool rows = part == Part::rows;
  std::vector<int> roots = summands(program, shape, rows, !rows);
  if (rows) {
    for (const int root : written(program, shape)) roots.push_back(root);
  }
  const std::vector<bool> wanted = needed(program, roots, true);
  std::string loads;
  std::size_t matrices = 1, row_vectors = 1, column_vectors = 1;  // arrays hold one at least
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Node& node = program.nodes[i];
    if (!wanted[i] || node.kind != Kind::input) continue;
    const ProgramTensor& t = input_of(program, node.tensor);
    if (t.extent == Extent::matrix) {
      const std::size_t place = position(shape.matrices, node.tensor);
      matrices = std::max(matrices, place + 1);
      loads += fmt::format("    m[{}] = composed_matrix<kiln::{}>(p.inputs[{}], row, column);\n",
                           place,
                           device_type(t.type),
                           t.slot);
    } else if (t.extent == Extent::row) {
      const std::size_t place = position(shape.row_vectors, node.tensor);
      row_vectors = std::max(row_vectors, place + 1);
      loads += fmt::format("    v[{}] = composed_vector<kiln::{}>(p.row_vectors[{}], column);\n",
                           place,
                           device_type(t.type),
                           t.slot);
    } else {
      const std::size_t place = position(shape.column_vectors, node.tensor);
      column_vectors = std::max(column_vectors, place + 1);
      loads += fmt::format("    c[{}] = p.column_vectors[{}][row];\n", place, t.slot);
    }
  }
  std::string out = fmt::format(
      "struct {} {{\n  using Matrix = kiln::{};\n"
      "  static constexpr int matrices = {}, row_vectors = {}, column_vectors = {};\n"
      "  static constexpr int row_sums = {}, column_sums = {}, outputs = {};\n"
      "  static void load(const ReductionParameters& p, long long row, long long column, float* m, "
      "float* v, float* c) {{\n{}  }}\n",
      name,
      device_type(shape.matrix),
      matrices,
      row_vectors,
      column_vectors,
      rows ? shape.row_sums.size() : 0,
      rows ? 0 : shape.column_sums.size(),
      rows ? shape.outputs.size() : 0,
      loads);
  out += kReduce;
  out += printer.reduce(rows, !rows) + "  }\n";
  if (rows) {
    out += kOutput;
    out += printer.output() + "  }\n";
  }
  return out + "};\n";
}

std::string composed_entry(std::string_view op,
                           const Program& program,
                           const Shape& shape,
                           Part part) {
  std::vector<int> roots = summands(program, shape, part == Part::rows, part == Part::columns);
  if (part == Part::rows) {
    for (const int root : written(program, shape)) roots.push_back(root);
  }
  const std::vector<bool> wanted = needed(program, roots, true);
  std::string out = fmt::format("{}_{}", op, part == Part::rows ? "rows" : "columns");
  if (part == Part::columns) {
    for (const int o : shape.column_sums)
      out += fmt::format("_{}", output_of(program, o).tensor.name);
  }
  out += fmt::format("_{}", device_type(shape.matrix));
  // What may be absent or of several types tells kernels apart.
  for (int i = 0; i < static_cast<int>(program.inputs.size()); ++i) {
    const ProgramTensor& t = input_of(program, i);
    const bool used =
        std::any_of(program.nodes.begin(), program.nodes.end(), [&](const Node& node) {
          const auto place = static_cast<std::size_t>(&node - program.nodes.data());
          return node.kind == Kind::input && node.tensor == i && wanted[place];
        });
    if (!used) continue;
    if (t.extent == Extent::row) out += fmt::format("_{}_{}", t.name, device_type(t.type));
    if (t.extent == Extent::matrix && t.optional) out += fmt::format("_{}", t.name);
  }
  return out;
}

std::string finish_entry(DType sum) { return fmt::format("finish_{}", device_type(sum)); }

}  // namespace kiln::mix_order_reduction
