// The functions of the formula language.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/mix_order_reduction/expression.hpp"

namespace kiln::mix_order_reduction {

enum class Callee {
  abs,
  bf16,  // rounds to the type
  cast,  // cast(key, a): rounds to the type that the signature's key names
  column_absmax,
  column_max,
  column_min,
  column_sum,
  erf,
  exp,
  f16,
  fma,    // a * b + c, rounded once
  given,  // given(key, a, b): a where the signature has the key, else b
  log,
  max,  // NaN when either is
  min,
  row_absmax,
  row_max,
  row_mean,
  row_min,
  row_sum,
  rsqrt,   // 1 / sqrt(a): a square root and a division, each rounded
  select,  // select(condition, a, b)
  sigmoid,
  sqrt,
  tanh,
};
struct Function {
  std::string_view name;
  Callee callee;
  std::size_t operands;
};
[[nodiscard]] std::span<const Function> functions() noexcept;
[[nodiscard]] const Function* find_function(std::string_view name) noexcept;

[[nodiscard]] constexpr bool reduces_row(Callee callee) {
  return callee == Callee::row_sum || callee == Callee::row_mean || callee == Callee::row_min ||
         callee == Callee::row_max || callee == Callee::row_absmax;
}
[[nodiscard]] constexpr bool reduces_column(Callee callee) {
  return callee == Callee::column_sum || callee == Callee::column_min ||
         callee == Callee::column_max || callee == Callee::column_absmax;
}

// The reduction that a statement is; nothing when it is none.
[[nodiscard]] std::optional<Callee> reduction(const Expression& value);

}  // namespace kiln::mix_order_reduction
