// A description for one signature: the operations that its formula comes to, each once, in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/mix_order_reduction/callees.hpp"
#include "kernels/mix_order_reduction/description.hpp"

namespace kiln::mix_order_reduction {

// How many values become one. The largest magnitude is 0 where there are no values; the largest of
// none is -infinity, the smallest +infinity. Extremes are NaN where any value is.
enum class Reduction { sum, min, max, absmax };
[[nodiscard]] std::string_view to_string(Reduction reduction) noexcept;
// Of a function that reduces.
[[nodiscard]] Reduction reduction_of(Callee callee) noexcept;

// One operation of fp32, rounded once to nearest even; the functions of elementary.hpp, several
// times.
struct Node {
  enum class Kind {
    input,  // element of inputs[tensor], widened exactly; a scalar is rounded to fp32 first
    constant,
    inverse_n,  // 1 / n, rounded
    negate,
    abs,
    sqrt,
    exp,
    log,
    tanh,
    sigmoid,
    erf,
    round,  // to type
    add,
    subtract,
    multiply,
    divide,
    min,
    max,
    less,  // conditions: a < b, ...
    less_equal,
    equal,
    not_equal,
    fma,     // a * b + c
    select,  // a ? b : c
    // Over the columns: of a; where b is there, a sum of a * b by fma. A "row sum" below is any
    // reduction over the columns, a "column sum" any over the rows.
    row_sum,
  };
  Kind kind = Kind::constant;
  int a = -1, b = -1, c = -1;  // operands, earlier nodes
  int tensor = -1;
  double constant = 0;
  DType type = DType::f32;               // round
  Reduction reduction = Reduction::sum;  // row_sum
  Extent extent = Extent::scalar;
  // Passes over a row that must end before this can be known: 0 for what the inputs give, one more
  // for the sum of such values.
  int phase = 0;

  bool operator==(const Node&) const = default;
};
[[nodiscard]] bool is_condition(Node::Kind kind) noexcept;
// One of elementary.hpp's.
[[nodiscard]] bool is_elementary(Node::Kind kind) noexcept;

struct ProgramTensor {
  std::string name;
  Extent extent = Extent::matrix;
  DType type = DType::f32;
  Fill fill = Fill::normal;
  bool accumulate = false;

  bool operator==(const ProgramTensor&) const = default;
};

// The reduction over the rows of a; where b is there, a sum of a * b by fma.
struct ColumnSum {
  Reduction reduction = Reduction::sum;
  int a = -1, b = -1;
  bool operator==(const ColumnSum&) const = default;
};

struct Output {
  ProgramTensor tensor;
  int node = -1;        // rounded to the tensor's type, when it is not
  int column_sum = -1;  // an index into column_sums

  bool operator==(const Output&) const = default;
};

struct Program {
  std::vector<ProgramTensor> inputs;  // those that the signature has, in the description's order
  std::vector<Node> nodes;            // operands before their users; equal ones once
  std::vector<ColumnSum> column_sums;
  std::vector<Output> outputs;
  int phases = 0;  // the most that a node has

  bool operator==(const Program&) const = default;
};

// The signature's keys choose types (`none`: absent) and flags (`0`: absent).
[[nodiscard]] Program specialise(const Description& description, const Signature& signature);

// Floating-point operations an element of a matrix costs; fma counts as two.
[[nodiscard]] int flops_per_element(const Program& program);

}  // namespace kiln::mix_order_reduction
