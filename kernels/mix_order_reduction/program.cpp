// Lowers the trees of a checked description to operations.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/program.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/check.hpp"

namespace kiln::mix_order_reduction {
namespace {

using Kind = Node::Kind;

class Lowering {
 public:
  Lowering(const Description& description, const Signature& signature)
      : d_(description), signature_(signature) {}

  Program run() {
    for (const TensorDescription& t : d_.inputs) {
      if (!present(t)) continue;
      inputs_[t.name] = static_cast<int>(program_.inputs.size());
      program_.inputs.push_back(tensor(t));
    }
    for (const TensorDescription& t : d_.outputs) {
      if (!present(t)) continue;
      Output out;
      out.tensor = tensor(t);
      if (t.extent == Extent::row) {
        const Expression& operand = statement(t.name).value.operands[0];
        const auto [a, b] = summand(operand);
        out.column_sum = static_cast<int>(program_.column_sums.size());
        program_.column_sums.push_back({a, b});
      } else {
        out.node = named(t.name);
      }
      program_.outputs.push_back(std::move(out));
    }
    return std::move(program_);
  }

 private:
  [[nodiscard]] bool has(const std::string& key) const {
    const std::string_view value = signature_.value(key);
    return value != "none" && value != "0";
  }
  [[nodiscard]] bool present(const TensorDescription& t) const {
    return t.given.empty() || has(t.given);
  }
  [[nodiscard]] ProgramTensor tensor(const TensorDescription& t) const {
    ProgramTensor out;
    out.name = t.name;
    out.extent = t.extent;
    out.fill = t.fill;
    out.optional = !t.given.empty();
    const std::optional<DType> fixed = parse_dtype(t.type);
    const std::optional<DType> type = fixed ? fixed : parse_dtype(signature_.value(t.type));
    if (!type) {
      throw Error(ErrorCode::internal,
                  d_.where + ": " + t.name + " has no type in " + signature_.text());
    }
    out.type = *type;
    out.accumulate = !t.accumulate.empty() && has(t.accumulate);
    const bool input = &t >= d_.inputs.data() && &t < d_.inputs.data() + d_.inputs.size();
    for (const TensorDescription& one : input ? d_.inputs : d_.outputs) {
      if (&one == &t) break;
      if (one.extent == t.extent) ++out.slot;
    }
    return out;
  }
  [[nodiscard]] const Statement& statement(const std::string& name) const {
    return *std::find_if(
        d_.formula.begin(), d_.formula.end(), [&](const Statement& s) { return s.name == name; });
  }

  int add(Node node) {
    const auto key =
        std::make_tuple(node.kind, node.a, node.b, node.c, node.tensor, node.constant, node.type);
    const auto [found, fresh] = known_.try_emplace(key, static_cast<int>(program_.nodes.size()));
    if (!fresh) return found->second;
    for (const int operand : {node.a, node.b, node.c}) {
      if (operand < 0) continue;
      const Node& of = program_.nodes[static_cast<std::size_t>(operand)];
      node.extent = joined(node.extent, of.extent);
      node.phase = std::max(node.phase, of.phase);
    }
    if (node.kind == Kind::row_sum) {
      node.extent = Extent::column;
      ++node.phase;
    }
    program_.phases = std::max(program_.phases, node.phase);
    program_.nodes.push_back(node);
    return found->second;
  }
  int add(Kind kind, int a, int b = -1, int c = -1) {
    Node node;
    node.kind = kind;
    node.a = a;
    node.b = b;
    node.c = c;
    return add(node);
  }
  int constant(double value) {
    Node node;
    node.constant = value;
    return add(node);
  }

  // A statement or an input, lowered once.
  int named(const std::string& name) {
    if (const auto known = values_.find(name); known != values_.end()) return known->second;
    int value = -1;
    if (const auto input = inputs_.find(name); input != inputs_.end()) {
      Node node;
      node.kind = Kind::input;
      node.tensor = input->second;
      node.extent = program_.inputs[static_cast<std::size_t>(input->second)].extent;
      value = add(node);
    } else {
      value = lower(statement(name).value);
    }
    values_[name] = value;
    return value;
  }

  // What a sum adds: a product is added by fma.
  std::pair<int, int> summand(const Expression& e) {
    if (e.kind == Expression::Kind::binary && e.text == "*") {
      const int a = lower(e.operands[0]);
      return {a, lower(e.operands[1])};
    }
    return {lower(e), -1};
  }

  int lower(const Expression& e) {
    switch (e.kind) {
      case Expression::Kind::number:
        return constant(e.number);
      case Expression::Kind::name:
        return named(e.text);
      case Expression::Kind::negate:
        return add(Kind::negate, lower(e.operands[0]));
      case Expression::Kind::binary:
        return binary(e);
      case Expression::Kind::call:
        return call(e);
    }
    return -1;
  }

  int binary(const Expression& e) {
    const int a = lower(e.operands[0]);
    const int b = lower(e.operands[1]);
    if (e.text == "+") return add(Kind::add, a, b);
    if (e.text == "-") return add(Kind::subtract, a, b);
    if (e.text == "*") return add(Kind::multiply, a, b);
    if (e.text == "/") return add(Kind::divide, a, b);
    if (e.text == "<") return add(Kind::less, a, b);
    if (e.text == "<=") return add(Kind::less_equal, a, b);
    if (e.text == ">") return add(Kind::less, b, a);
    if (e.text == ">=") return add(Kind::less_equal, b, a);
    return add(e.text == "==" ? Kind::equal : Kind::not_equal, a, b);
  }

  int call(const Expression& e) {
    const Callee callee = find_function(e.text)->callee;
    if (callee == Callee::given) return lower(e.operands[has(e.operands[0].text) ? 1 : 2]);
    if (reduces_row(callee)) {
      const auto [a, b] = summand(e.operands[0]);
      const int sum = add(Kind::row_sum, a, b);
      if (callee == Callee::row_sum) return sum;
      Node inverse;
      inverse.kind = Kind::inverse_n;
      return add(Kind::multiply, sum, add(inverse));
    }
    std::vector<int> operands;
    for (const Expression& operand : e.operands) operands.push_back(lower(operand));
    return function(callee, operands);
  }

  int function(Callee callee, const std::vector<int>& operands) {
    Node node;
    node.a = operands[0];
    if (operands.size() > 1) node.b = operands[1];
    if (operands.size() > 2) node.c = operands[2];
    switch (callee) {
      case Callee::abs:
        node.kind = Kind::abs;
        break;
      case Callee::bf16:
        node.kind = Kind::round;
        node.type = DType::bf16;
        break;
      case Callee::f16:
        node.kind = Kind::round;
        node.type = DType::f16;
        break;
      case Callee::fma:
        node.kind = Kind::fma;
        break;
      case Callee::max:
        node.kind = Kind::max;
        break;
      case Callee::min:
        node.kind = Kind::min;
        break;
      case Callee::select:
        node.kind = Kind::select;
        break;
      case Callee::rsqrt:
        return add(Kind::divide, constant(1), add(Kind::sqrt, operands[0]));
      case Callee::sqrt:
        node.kind = Kind::sqrt;
        break;
      case Callee::given:
      case Callee::row_sum:
      case Callee::row_mean:
      case Callee::column_sum:
        throw Error(ErrorCode::internal, d_.where + ": a reduction inside an expression");
    }
    return add(node);
  }

  const Description& d_;
  const Signature& signature_;
  Program program_;
  std::map<std::tuple<Kind, int, int, int, int, double, DType>, int> known_;
  std::map<std::string, int> inputs_;
  std::map<std::string, int> values_;
};

}  // namespace

bool is_condition(Node::Kind kind) noexcept {
  return kind == Kind::less || kind == Kind::less_equal || kind == Kind::equal ||
         kind == Kind::not_equal;
}

Program specialise(const Description& description, const Signature& signature) {
  return Lowering(description, signature).run();
}

int flops_per_element(const Program& program) {
  int flops = 0;
  for (const Node& node : program.nodes) {
    if (node.kind == Kind::row_sum) flops += node.b >= 0 ? 2 : 1;
    if (node.extent != Extent::matrix) continue;
    switch (node.kind) {
      case Kind::fma:
        flops += 2;
        break;
      case Kind::abs:
      case Kind::sqrt:
      case Kind::add:
      case Kind::subtract:
      case Kind::multiply:
      case Kind::divide:
      case Kind::min:
      case Kind::max:
        flops += 1;
        break;
      case Kind::input:
      case Kind::constant:
      case Kind::inverse_n:
      case Kind::negate:
      case Kind::round:
      case Kind::less:
      case Kind::less_equal:
      case Kind::equal:
      case Kind::not_equal:
      case Kind::select:
      case Kind::row_sum:
        break;
    }
  }
  for (const ColumnSum& sum : program.column_sums) flops += sum.b >= 0 ? 2 : 1;
  return flops;
}

}  // namespace kiln::mix_order_reduction
