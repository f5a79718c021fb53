// What a description must satisfy whatever the signature says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/mix_order_reduction/description.hpp"

namespace kiln::mix_order_reduction {

// The functions of the language.
enum class Callee {
  abs,
  bf16,  // rounds to the type
  column_sum,
  f16,
  fma,    // a * b + c, rounded once
  given,  // given(key, a, b): a where the signature has the key, else b
  max,    // NaN when either is
  min,
  row_mean,
  row_sum,
  rsqrt,   // 1 / sqrt(a): a square root and a division, each rounded
  select,  // select(condition, a, b)
  sqrt,
};
struct Function {
  std::string_view name;
  Callee callee;
  std::size_t operands;
};
[[nodiscard]] std::span<const Function> functions() noexcept;
[[nodiscard]] const Function* find_function(std::string_view name) noexcept;

[[nodiscard]] constexpr bool reduces_row(Callee callee) {
  return callee == Callee::row_sum || callee == Callee::row_mean;
}
[[nodiscard]] constexpr bool reduces_column(Callee callee) { return callee == Callee::column_sum; }

// The reduction that a statement is; nothing when it is none.
[[nodiscard]] std::optional<Callee> reduction(const Expression& value);

// Throws Error{invalid_source}: see parse_description.
void check(const Description& description);

}  // namespace kiln::mix_order_reduction
