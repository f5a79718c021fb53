// The expression language of a reduction's formula, as syntax: text in, a tree or an error out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::mix_order_reduction {

// statement  := name "=" comparison
// comparison := sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
// sum        := product {("+" | "-") product}
// product    := factor {("*" | "/") factor}
// factor     := "-" factor | number | name | name "(" comparison {"," comparison} ")"
//             | "(" comparison ")"
// name       := a letter, then letters, digits and "_"
// number     := decimal digits, with a fraction and an exponent or without
// Operators of one level group from the left. What names mean is program.hpp's.
struct Expression {
  enum class Kind { number, name, negate, binary, call };
  Kind kind = Kind::number;
  double number = 0;
  std::string text;                  // the name, the operator, or the function
  std::vector<Expression> operands;  // of an operator or a call
  std::size_t column = 1;            // where it starts, counted from 1; an operator: where that is

  bool operator==(const Expression&) const = default;
};

struct Statement {
  std::string name;
  Expression value;

  bool operator==(const Statement&) const = default;
};

// Longer or deeper ones are refused: a formula is written by hand, and the tree is walked by
// recursion.
inline constexpr std::size_t kMaxStatementBytes = 1024;
inline constexpr int kMaxDepth = 64;

// Throws Error{invalid_source}: "<where>, column 12: ...".
[[nodiscard]] Statement parse_statement(std::string_view text, std::string_view where);

// The statement with every operator in brackets; parses to the same tree, columns aside.
[[nodiscard]] std::string to_string(const Statement& statement);
[[nodiscard]] std::string to_string(const Expression& expression);

[[noreturn]] void refuse(std::string_view where, std::size_t column, std::string_view problem);

}  // namespace kiln::mix_order_reduction
