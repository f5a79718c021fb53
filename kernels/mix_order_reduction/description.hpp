// A mix-order reduction as data: tensors, and a formula of statements. Read from JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/family.hpp"
#include "kernels/mix_order_reduction/expression.hpp"

namespace kiln::mix_order_reduction {

// What a value varies over: nothing; the columns, as a row vector [n] does; the rows, as a column
// vector [rows] does; both, as a matrix [rows, n] does.
enum class Extent { scalar, row, column, matrix };
[[nodiscard]] std::string_view to_string(Extent extent) noexcept;
[[nodiscard]] constexpr bool varies_over_columns(Extent extent) {
  return extent == Extent::row || extent == Extent::matrix;
}
[[nodiscard]] constexpr bool varies_over_rows(Extent extent) {
  return extent == Extent::column || extent == Extent::matrix;
}
// Of an operation on both.
[[nodiscard]] Extent joined(Extent left, Extent right);

struct TensorDescription {
  std::string name;
  Extent extent = Extent::matrix;  // scalar: a number that the launch is given
  std::string type;                // f32, f16, bf16, or the key that chooses it
  std::string given;       // the key that makes it present: a flag, or a type other than none
  std::string accumulate;  // outputs: the flag that makes = a +=
  Fill fill = Fill::normal;

  bool operator==(const TensorDescription&) const = default;
};

// A key of the op's signatures, n aside.
struct KeyDescription {
  // A type; a type or none, where tensors are there only with it; a flag.
  enum class Kind { type, optional_type, flag };
  std::string name;
  Kind kind = Kind::flag;
  std::string default_value;  // a value, or another type key, whose value it takes
  std::string doc;

  bool operator==(const KeyDescription&) const = default;
};

// {"version": 1, "op": name, "summary": text [, "keys": [key ...]], "inputs": [tensor ...],
//  "formula": ["name = expression" ...], "outputs": [tensor ...]}
// key: {"name": name [, "default": value] [, "doc": text]}
// tensor: {"name": name, "shape": "matrix" | "row" | "column" | "scalar", "type": type
//  [, "given": key] [, "accumulate": flag] [, "fill": "normal" | "positive" | "small"]}
struct Description {
  std::string op;
  std::string summary;
  std::vector<KeyDescription> keys;  // sorted by name
  std::vector<TensorDescription> inputs;
  std::vector<Statement> formula;
  std::vector<TensorDescription> outputs;
  std::string names;  // of every tensor, "x, dy, dx"
  std::string where;  // the file, for errors

  // "<where>, formula 3"
  [[nodiscard]] std::string place(std::size_t statement) const;
  bool operator==(const Description&) const = default;
};

inline constexpr std::size_t kMaxTensors = 16;  // inputs, or outputs
inline constexpr std::size_t kMaxStatements = 64;

// A key that tensors name as a type is one; one that "given" names is a type or none when it is a
// tensor's type too, else a flag; one that only "keys" and the formula name is a flag. Without a
// default of its own, which may be none for a type, the first type is bf16, every other one is the
// first one's, and a flag is 0. Throws Error{invalid_source} that names the place, what is wrong
// there, and what is known. Checks what no signature changes: names are defined once and before
// their use, and are used; functions and their number of operands are known; every output has a
// statement.
[[nodiscard]] Description parse_description(std::string_view json, std::string_view where);

}  // namespace kiln::mix_order_reduction
