// Lowers the trees of a checked description to operations.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/program.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <kiln/error.hpp>

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
        const Expression& value = statement(t.name).value;
        const Reduction reduction = reduction_of(find_function(value.text)->callee);
        const auto [a, b] = summand(value.operands[0], reduction);
        out.column_sum = static_cast<int>(program_.column_sums.size());
        program_.column_sums.push_back({reduction, a, b});
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
    const std::optional<DType> fixed = parse_dtype(t.type);
    const std::optional<DType> type = fixed ? fixed : parse_dtype(signature_.value(t.type));
    if (!type) {
      throw Error(ErrorCode::internal,
                  d_.where + ": " + t.name + " has no type in " + signature_.text());
    }
    out.type = *type;
    out.accumulate = !t.accumulate.empty() && has(t.accumulate);
    return out;
  }
  [[nodiscard]] const Statement& statement(const std::string& name) const {
    return *std::find_if(
        d_.formula.begin(), d_.formula.end(), [&](const Statement& s) { return s.name == name; });
  }

  int add(Node node) {
    const auto key = std::make_tuple(
        node.kind, node.a, node.b, node.c, node.tensor, node.constant, node.type, node.reduction);
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

  // What a reduction takes: a sum adds a product by fma.
  std::pair<int, int> summand(const Expression& e, Reduction reduction) {
    if (reduction == Reduction::sum && e.kind == Expression::Kind::binary && e.text == "*") {
      const int a = lower(e.operands[0]);
      return {a, lower(e.operands[1])};
    }
    const int a = lower(e);
    return {reduction == Reduction::absmax ? add(Kind::abs, a) : a, -1};
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
    if (callee == Callee::cast) return cast(e);
    if (reduces_row(callee)) {
      Node reduce;
      reduce.kind = Kind::row_sum;
      reduce.reduction = reduction_of(callee);
      std::tie(reduce.a, reduce.b) = summand(e.operands[0], reduce.reduction);
      const int sum = add(reduce);
      if (callee != Callee::row_mean) return sum;
      Node inverse;
      inverse.kind = Kind::inverse_n;
      return add(Kind::multiply, sum, add(inverse));
    }
    std::vector<int> operands;
    for (const Expression& operand : e.operands) operands.push_back(lower(operand));
    return function(callee, operands);
  }

  int cast(const Expression& e) {
    const int a = lower(e.operands[1]);
    const std::optional<DType> type = parse_dtype(signature_.value(e.operands[0].text));
    return type ? rounded(*type, a) : a;
  }
  int rounded(DType type, int a) {
    if (type == DType::f32) return a;
    Node node;
    node.kind = Kind::round;
    node.type = type;
    node.a = a;
    return add(node);
  }

  int function(Callee callee, const std::vector<int>& of) {
    const auto call = [&](Kind kind) {
      return add(kind, of[0], of.size() > 1 ? of[1] : -1, of.size() > 2 ? of[2] : -1);
    };
    switch (callee) {
      case Callee::abs:
        return call(Kind::abs);
      case Callee::bf16:
        return rounded(DType::bf16, of[0]);
      case Callee::erf:
        return call(Kind::erf);
      case Callee::exp:
        return call(Kind::exp);
      case Callee::f16:
        return rounded(DType::f16, of[0]);
      case Callee::fma:
        return call(Kind::fma);
      case Callee::log:
        return call(Kind::log);
      case Callee::max:
        return call(Kind::max);
      case Callee::min:
        return call(Kind::min);
      case Callee::rsqrt:
        return add(Kind::divide, constant(1), add(Kind::sqrt, of[0]));
      case Callee::select:
        return call(Kind::select);
      case Callee::sigmoid:
        return call(Kind::sigmoid);
      case Callee::sqrt:
        return call(Kind::sqrt);
      case Callee::tanh:
        return call(Kind::tanh);
      case Callee::cast:
      case Callee::given:
      case Callee::column_absmax:
      case Callee::column_max:
      case Callee::column_min:
      case Callee::column_sum:
      case Callee::row_absmax:
      case Callee::row_max:
      case Callee::row_mean:
      case Callee::row_min:
      case Callee::row_sum:
        break;
    }
    throw Error(ErrorCode::internal, d_.where + ": a reduction inside an expression");
  }

  const Description& d_;
  const Signature& signature_;
  Program program_;
  std::map<std::tuple<Kind, int, int, int, int, double, DType, Reduction>, int> known_;
  std::map<std::string, int> inputs_;
  std::map<std::string, int> values_;
};

}  // namespace

bool is_condition(Node::Kind kind) noexcept {
  return kind == Kind::less || kind == Kind::less_equal || kind == Kind::equal ||
         kind == Kind::not_equal;
}

bool is_elementary(Node::Kind kind) noexcept {
  return kind == Kind::exp || kind == Kind::log || kind == Kind::tanh || kind == Kind::sigmoid ||
         kind == Kind::erf;
}

Reduction reduction_of(Callee callee) noexcept {
  if (callee == Callee::row_min || callee == Callee::column_min) return Reduction::min;
  if (callee == Callee::row_max || callee == Callee::column_max) return Reduction::max;
  if (callee == Callee::row_absmax || callee == Callee::column_absmax) return Reduction::absmax;
  return Reduction::sum;
}

std::string_view to_string(Reduction reduction) noexcept {
  switch (reduction) {
    case Reduction::sum:
      return "sum";
    case Reduction::min:
      return "min";
    case Reduction::max:
      return "max";
    case Reduction::absmax:
      return "absmax";
  }
  return "?";
}

Program specialise(const Description& description, const Signature& signature) {
  return Lowering(description, signature).run();
}

}  // namespace kiln::mix_order_reduction
