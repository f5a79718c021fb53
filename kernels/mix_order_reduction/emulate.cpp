// Element by element, as slow as it is plain: it is what fast kernels are held against.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/emulate.hpp"

#include <algorithm>
#include <string>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/layout.hpp"

namespace kiln::mix_order_reduction {
namespace {

using Kind = Node::Kind;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

const std::vector<double>& find(std::span<const HostTensor> tensors, const std::string& name) {
  for (const HostTensor& t : tensors) {
    if (t.name == name) return t.values;
  }
  throw Error(ErrorCode::internal, "the emulation was given no tensor " + name);
}

// As the hardware's: NaN when either is, and -0 below +0.
float least(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::nanf("");
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

float greatest(float a, float b) { return -least(-a, -b); }

// Of no values.
float identity(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::absmax:
      return 0.0f;
    case Reduction::min:
      return INFINITY;
    case Reduction::max:
      return -INFINITY;
  }
  return 0.0f;
}

float joined(Reduction reduction, float a, float b) {
  switch (reduction) {
    case Reduction::sum:
      return a + b;
    case Reduction::min:
      return least(a, b);
    case Reduction::max:
    case Reduction::absmax:
      return greatest(a, b);
  }
  return a;
}

float operation(const Node& node, float a, float b, float c) {
  switch (node.kind) {
    case Kind::negate:
      return -a;
    case Kind::abs:
      return std::fabs(a);
    case Kind::sqrt:
      return std::sqrt(a);
    case Kind::exp:
      return HostFunctions::exp(a);
    case Kind::log:
      return HostFunctions::log(a);
    case Kind::tanh:
      return HostFunctions::tanh(a);
    case Kind::sigmoid:
      return HostFunctions::sigmoid(a);
    case Kind::erf:
      return HostFunctions::erf(a);
    case Kind::round:
      return static_cast<float>(rounded_to(node.type, a));
    case Kind::add:
      return a + b;
    case Kind::subtract:
      return a - b;
    case Kind::multiply:
      return a * b;
    case Kind::divide:
      return a / b;
    case Kind::min:
      return least(a, b);
    case Kind::max:
      return greatest(a, b);
    case Kind::less:
      return a < b ? 1.0f : 0.0f;
    case Kind::less_equal:
      return a <= b ? 1.0f : 0.0f;
    case Kind::equal:
      return a == b ? 1.0f : 0.0f;
    case Kind::not_equal:
      return a != b ? 1.0f : 0.0f;
    case Kind::fma:
      return std::fmaf(a, b, c);
    case Kind::select:
      return a != 0 ? b : c;
    case Kind::constant:
      return static_cast<float>(node.constant);
    case Kind::input:
    case Kind::inverse_n:
    case Kind::row_sum:
      break;
  }
  throw Error(ErrorCode::internal, "not an operation on elements");
}

class Emulation {
 public:
  Emulation(const Program& program,
            std::int64_t n,
            std::int64_t rows,
            std::span<const HostTensor> tensors)
      : program_(program), n_(n), rows_(rows), values_(program.nodes.size()) {
    for (const ProgramTensor& t : program.inputs) inputs_.push_back(&find(tensors, t.name));
  }

  std::vector<HostTensor> run(std::span<const HostTensor> tensors) {
    std::vector<HostTensor> out;
    for (const Output& o : program_.outputs) {
      HostTensor t{o.tensor.name, {}, {}};
      if (varies_over_rows(o.tensor.extent)) t.shape.push_back(rows_);
      if (varies_over_columns(o.tensor.extent)) t.shape.push_back(n_);
      std::int64_t elements = 1;
      for (const std::int64_t extent : t.shape) elements *= extent;
      t.values.resize(index(elements));
      out.push_back(std::move(t));
    }
    for (std::int64_t row = 0; row < rows_; ++row) {
      compute(row);
      for (std::size_t o = 0; o < out.size(); ++o) write_row(program_.outputs[o], row, out[o]);
    }
    for (std::size_t o = 0; o < out.size(); ++o) {
      if (program_.outputs[o].column_sum >= 0) write_sums(program_.outputs[o], tensors, out[o]);
    }
    return out;
  }

 private:
  [[nodiscard]] float at(int node, std::int64_t column) const {
    if (node < 0) return 0;
    const std::vector<float>& v = values_[index(node)];
    return v[v.size() == 1 ? 0 : index(column)];
  }

  template <class Sum>
  [[nodiscard]] float added(const Sum& of, std::int64_t column, float sum) const {
    const float a = at(of.a, column);
    return of.b < 0 ? joined(of.reduction, sum, a) : std::fmaf(a, at(of.b, column), sum);
  }

  void compute(std::int64_t row) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Node& node = program_.nodes[i];
      std::vector<float>& out = values_[i];
      out.resize(varies_over_columns(node.extent) ? index(n_) : 1);
      if (node.kind == Kind::row_sum) {
        out[0] = row_sum(node);
        continue;
      }
      for (std::int64_t j = 0; j < static_cast<std::int64_t>(out.size()); ++j)
        out[index(j)] = element(node, row, j);
    }
  }

  [[nodiscard]] float element(const Node& node, std::int64_t row, std::int64_t j) const {
    // A scalar is an input of one element.
    if (node.kind == Kind::inverse_n) return 1.0f / static_cast<float>(n_);
    if (node.kind == Kind::input) {
      const std::int64_t first = varies_over_rows(node.extent) ? row : 0;
      const std::int64_t place = varies_over_columns(node.extent) ? first * n_ + j : first;
      return static_cast<float>((*inputs_[index(node.tensor)])[index(place)]);
    }
    return operation(node, at(node.a, j), at(node.b, j), at(node.c, j));
  }

  [[nodiscard]] float row_sum(const Node& node) const {
    std::vector<float> lane(index(lanes(n_)), identity(node.reduction));
    for (std::int64_t j = 0; j < n_; ++j) {
      float& sum = lane[index(j / kVector % kMaxLanes)];
      sum = added(node, j, sum);
    }
    for (std::size_t step = 1; step < lane.size(); step *= 2) {
      for (std::size_t l = 0; l < lane.size(); l += 2 * step)
        lane[l] = joined(node.reduction, lane[l], lane[l + step]);
    }
    return lane[0];
  }

  void write_row(const Output& o, std::int64_t row, HostTensor& out) const {
    if (o.node < 0) return;
    const std::int64_t width = varies_over_columns(o.tensor.extent) ? n_ : 1;
    for (std::int64_t j = 0; j < width; ++j)
      out.values[index(row * width + j)] = rounded_to(o.tensor.type, at(o.node, j));
  }

  // Rows of a block to chains in turn, chains in order, blocks in order within groups, groups in
  // order.
  [[nodiscard]] std::vector<float> column_sums(const ColumnSum& of) {
    const RowSplit split = split_rows(rows_, n_);
    const int tile = tile_rows(n_);
    const float none = identity(of.reduction);
    std::vector<float> total(index(n_), none), group = total, block = total, chain = total;
    const auto join = [&](std::vector<float>& into, std::vector<float>& part) {
      for (std::size_t j = 0; j < into.size(); ++j)
        into[j] = joined(of.reduction, into[j], part[j]);
      std::fill(part.begin(), part.end(), none);
    };
    for (int b = 0; b < split.blocks; ++b) {
      const std::int64_t count = block_rows(split, tile, b);
      for (int c = 0; c < chains(n_); ++c) {
        for (std::int64_t i = c; i < count; i += chains(n_)) {
          compute(block_row(split, tile, b, i));
          for (std::int64_t j = 0; j < n_; ++j) chain[index(j)] = added(of, j, chain[index(j)]);
        }
        join(block, chain);
      }
      join(group, block);
      if ((b + 1) % kBlockGroup == 0 || b + 1 == split.blocks) join(total, group);
    }
    return total;
  }

  void write_sums(const Output& o, std::span<const HostTensor> tensors, HostTensor& out) {
    const std::vector<float> sums = column_sums(program_.column_sums[index(o.column_sum)]);
    for (std::size_t j = 0; j < sums.size(); ++j) {
      double value = rounded_to(o.tensor.type, sums[j]);
      if (o.tensor.accumulate) {
        const auto before = static_cast<float>(find(tensors, o.tensor.name)[j]);
        value = rounded_to(o.tensor.type, before + static_cast<float>(value));
      }
      out.values[j] = value;
    }
  }

  const Program& program_;
  std::int64_t n_, rows_;
  std::vector<const std::vector<double>*> inputs_;
  std::vector<std::vector<float>> values_;  // of the current row
};

float rounded_to_bf16(float value) {
  if (std::isnan(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fffU + (bits >> 16 & 1U)) & 0xffff0000U);
}

float rounded_to_f16(float value) {
  if (!std::isfinite(value) || value == 0) return value;
  // A unit of the last place: 11 bits, or those above 2^-24.
  const int exponent = std::max(std::ilogb(value), -14) - 10;
  const float rounded = std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
  return std::fabs(rounded) > 65504.0f ? std::copysign(INFINITY, value) : rounded;
}

}  // namespace

double rounded_to(DType type, float value) {
  switch (type) {
    case DType::f16:
      return static_cast<double>(rounded_to_f16(value));
    case DType::bf16:
      return static_cast<double>(rounded_to_bf16(value));
    case DType::f32:
    case DType::i32:
      break;
  }
  return static_cast<double>(value);
}

std::vector<HostTensor> emulate(const Program& program,
                                std::int64_t n,
                                std::int64_t rows,
                                std::span<const HostTensor> tensors) {
  return Emulation(program, n, rows, tensors).run(tensors);
}

}  // namespace kiln::mix_order_reduction
