// Row by row: every operation over the columns of one row, then the next.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/bounded.hpp"
#include "kernels/mix_order_reduction/layout.hpp"

namespace kiln::mix_order_reduction {
namespace {

using Kind = Node::Kind;

// Of one row: an element a column, or one.
using Values = std::vector<Bounded>;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

const std::vector<double>& find(std::span<const HostTensor> tensors, const std::string& name) {
  for (const HostTensor& t : tensors) {
    if (t.name == name) return t.values;
  }
  throw Error(ErrorCode::internal, "the reference was given no tensor " + name);
}

// out[j] = f(a, b, c) for every column j; operands of one element serve every column.
template <class F>
void map(Values& out, const Values* a, const Values* b, const Values* c, F f) {
  static const Values kAbsent(1);
  const auto at = [](const Values* v, std::size_t j) {
    const Values& values = v == nullptr ? kAbsent : *v;
    return values[values.size() == 1 ? 0 : j];
  };
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = f(at(a, j), at(b, j), at(c, j));
}

// An operation on elements; sums and inputs are not among them.
void operate(const Node& node, Values& out, const Values* a, const Values* b, const Values* c) {
  const auto one = [&](Bounded (*f)(Bounded)) {
    map(out, a, b, c, [f](Bounded x, Bounded, Bounded) { return f(x); });
  };
  const auto two = [&](Bounded (*f)(Bounded, Bounded)) {
    map(out, a, b, c, [f](Bounded x, Bounded y, Bounded) { return f(x, y); });
  };
  const auto three = [&](auto f) { map(out, a, b, c, f); };
  switch (node.kind) {
    case Kind::negate:
      return one(negate);
    case Kind::abs:
      return one(abs);
    case Kind::sqrt:
      return one(sqrt);
    case Kind::exp:
      return one(exp);
    case Kind::log:
      return one(log);
    case Kind::tanh:
      return one(tanh);
    case Kind::sigmoid:
      return one(sigmoid);
    case Kind::erf:
      return one(erf);
    case Kind::round:
      return three([&](Bounded x, Bounded, Bounded) { return round(x, node.type); });
    case Kind::add:
      return three([](Bounded x, Bounded y, Bounded) { return add(x, y); });
    case Kind::subtract:
      return three([](Bounded x, Bounded y, Bounded) { return subtract(x, y); });
    case Kind::multiply:
      return three([](Bounded x, Bounded y, Bounded) { return multiply(x, y); });
    case Kind::divide:
      return two(divide);
    case Kind::min:
      return two(min);
    case Kind::max:
      return two(max);
    case Kind::less:
      return two(less);
    case Kind::less_equal:
      return two(less_equal);
    case Kind::equal:
      return two(equal);
    case Kind::not_equal:
      return three([](Bounded x, Bounded y, Bounded) { return complement(equal(x, y)); });
    case Kind::fma:
      return three([](Bounded x, Bounded y, Bounded z) { return fma(x, y, z); });
    case Kind::select:
      return three([](Bounded x, Bounded y, Bounded z) { return select(x, y, z); });
    case Kind::input:
    case Kind::constant:
    case Kind::inverse_n:
    case Kind::row_sum:
      break;
  }
  throw Error(ErrorCode::internal, "not an operation on elements");
}

// Many values as one, in whatever order a kernel takes them.
class BoundedReduction {
 public:
  explicit BoundedReduction(Reduction reduction) : reduction_(reduction) {
    if (reduction == Reduction::min) extreme_.value = bounded::kInfinity;
    if (reduction == Reduction::max) extreme_.value = -bounded::kInfinity;
  }
  void add(Bounded term) {
    switch (reduction_) {
      case Reduction::sum:
        return sum_.add(term);
      case Reduction::min:
        extreme_ = min(extreme_, term);
        return;
      case Reduction::max:
      case Reduction::absmax:
        extreme_ = max(extreme_, term);
        return;
    }
  }
  void add_product(Bounded a, Bounded b) { sum_.add_product(a, b); }
  [[nodiscard]] Bounded total(double roundings) const {
    return reduction_ == Reduction::sum ? sum_.total(roundings) : extreme_;
  }

 private:
  Reduction reduction_;
  BoundedSum sum_;
  Bounded extreme_;
};

class Evaluation {
 public:
  Evaluation(const Program& program,
             std::int64_t n,
             std::int64_t rows,
             std::span<const HostTensor> tensors)
      : program_(program),
        n_(static_cast<std::size_t>(n)),
        rows_(static_cast<std::size_t>(rows)),
        values_(program.nodes.size()),
        sums_(program.column_sums.size()) {
    for (std::size_t s = 0; s < sums_.size(); ++s)
      sums_[s].resize(n_, BoundedReduction(program.column_sums[s].reduction));
    for (const ProgramTensor& t : program.inputs) inputs_.push_back(&find(tensors, t.name));
    for (const Output& o : program.outputs) {
      out_.push_back({o.tensor.name, {}, {}});
      out_.back().values.resize(size(o.tensor.extent));
      out_.back().bounds.resize(size(o.tensor.extent));
    }
  }

  std::vector<Expected> run(std::span<const HostTensor> tensors) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!varies_over_rows(program_.nodes[i].extent)) compute(i, 0);
    }
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t i = 0; i < values_.size(); ++i) {
        if (varies_over_rows(program_.nodes[i].extent)) compute(i, row);
      }
      for (std::size_t s = 0; s < sums_.size(); ++s) {
        for (std::size_t i = 0; i < n_; ++i) term(program_.column_sums[s], i, sums_[s][i]);
      }
      for (std::size_t o = 0; o < out_.size(); ++o) write_row(program_.outputs[o], row, out_[o]);
    }
    for (std::size_t o = 0; o < out_.size(); ++o) {
      if (program_.outputs[o].column_sum >= 0) write_sums(program_.outputs[o], tensors, out_[o]);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t size(Extent extent) const {
    return (varies_over_columns(extent) ? n_ : 1) * (varies_over_rows(extent) ? rows_ : 1);
  }
  [[nodiscard]] Bounded at(int node, std::size_t i) const {
    const Values& v = values_[index(node)];
    return v[v.size() == 1 ? 0 : i];
  }

  template <class Sum>
  void term(const Sum& of, std::size_t i, BoundedReduction& sum) const {
    if (of.b < 0) {
      sum.add(at(of.a, i));
    } else {
      sum.add_product(at(of.a, i), at(of.b, i));
    }
  }

  void compute(std::size_t i, std::size_t row) {
    const Node& node = program_.nodes[i];
    Values& out = values_[i];
    out.resize(varies_over_columns(node.extent) ? n_ : 1);
    if (node.kind == Kind::row_sum) {
      // A lane adds its columns one by one; then a tree over the lanes.
      const auto width = static_cast<std::int64_t>(n_);
      BoundedReduction sum(node.reduction);
      for (std::size_t j = 0; j < n_; ++j) term(node, j, sum);
      out[0] =
          sum.total(static_cast<double>(panels(width)) * kVector + std::log2(lanes(width)) + 1);
      return;
    }
    if (node.kind == Kind::constant) {
      out[0] = {node.constant, 0};
    } else if (node.kind == Kind::inverse_n) {
      out[0] = inverse(static_cast<double>(n_));
    } else if (node.kind == Kind::input) {
      load(node, row, out);
    } else {
      const auto values = [&](int of) { return of < 0 ? nullptr : &values_[index(of)]; };
      operate(node, out, values(node.a), values(node.b), values(node.c));
    }
  }

  void load(const Node& node, std::size_t row, Values& out) const {
    const double* from = inputs_[index(node.tensor)]->data();
    if (varies_over_rows(node.extent)) from += row * out.size();
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = {from[j], 0};
  }

  static void store(Bounded value, const Output& output, std::size_t i, Expected& out) {
    const Bounded rounded = round(value, output.tensor.type);
    out.values[i] = rounded.value;
    out.bounds[i] = rounded.error;
  }

  void write_row(const Output& output, std::size_t row, Expected& out) const {
    if (output.node < 0) return;
    const std::size_t width = varies_over_columns(output.tensor.extent) ? n_ : 1;
    for (std::size_t i = 0; i < width; ++i) store(at(output.node, i), output, row * width + i, out);
  }

  // One rounding a row of the longest chain, one a chain, a block of a group, a group.
  [[nodiscard]] double column_roundings() const {
    const auto n = static_cast<std::int64_t>(n_), rows = static_cast<std::int64_t>(rows_);
    const auto longest =
        static_cast<double>(block_rows(split_rows(rows, n), tile_rows(n), 0)) / chains(n);
    return std::ceil(longest) + 1 + chains(n) + kBlockGroup +
           std::ceil(row_blocks(rows, n) / double{kBlockGroup}) + 1;
  }

  void write_sums(const Output& output, std::span<const HostTensor> tensors, Expected& out) const {
    for (std::size_t i = 0; i < n_; ++i) {
      Bounded sum = sums_[index(output.column_sum)][i].total(column_roundings());
      if (output.tensor.accumulate) {
        sum = add({find(tensors, output.tensor.name)[i], 0}, round(sum, output.tensor.type));
      }
      store(sum, output, i, out);
    }
  }

  const Program& program_;
  std::size_t n_, rows_;
  std::vector<const std::vector<double>*> inputs_;
  std::vector<Values> values_;                       // of the current row
  std::vector<std::vector<BoundedReduction>> sums_;  // a column sum, a column
  std::vector<Expected> out_;
};

}  // namespace

std::vector<Expected> evaluate(const Program& program,
                               std::int64_t n,
                               std::int64_t rows,
                               std::span<const HostTensor> tensors) {
  return Evaluation(program, n, rows, tensors).run(tensors);
}

Problem problem_of(const Program& program, std::int64_t n, std::int64_t rows) {
  Problem out;
  const auto add = [&](const ProgramTensor& t, Role role) {
    TensorSpec spec{t.name, t.type, {}, role, t.fill};
    std::int64_t elements = 1;
    if (varies_over_rows(t.extent)) spec.shape.push_back(rows);
    if (varies_over_columns(t.extent)) spec.shape.push_back(n);
    for (const std::int64_t extent : spec.shape) elements *= extent;
    if (role == Role::in_out) spec.fill = Fill::normal;
    out.floor_bytes += elements * size_bytes(t.type) * (role == Role::in_out ? 2 : 1);
    out.tensors.push_back(std::move(spec));
  };
  for (const ProgramTensor& t : program.inputs) add(t, Role::input);
  for (const Output& o : program.outputs)
    add(o.tensor, o.tensor.accumulate ? Role::in_out : Role::output);
  out.flops = flops_per_element(program) * static_cast<double>(rows) * static_cast<double>(n);
  return out;
}

}  // namespace kiln::mix_order_reduction
