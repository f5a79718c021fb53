// Pieces of device code that fused and composed formulas share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/mix_order_reduction/shape.hpp"

namespace kiln::mix_order_reduction {

// template <int Which> static void <head> { the body of one of `count`, those that have any }
[[nodiscard]] std::string chosen_text(std::string_view head,
                                      int count,
                                      const std::function<std::string(int)>& body);
// static constexpr Join <function>(int k)
[[nodiscard]] std::string joins_text(std::string_view function,
                                     const std::vector<Reduction>& joins);
// The column vectors' elements of a row to c.
[[nodiscard]] std::string load_row_text(const Program& program, const Shape& shape);
// The same one at a time: where a value of the first row is.
[[nodiscard]] std::string loaded_value_text(const Program& program, const Shape& shape);
// The column outputs of a row from c.
[[nodiscard]] std::string write_row_text(const Program& program, const Shape& shape);

[[nodiscard]] std::vector<Reduction> row_joins(const Shape& shape);
[[nodiscard]] std::vector<Reduction> column_joins(const Program& program, const Shape& shape);

inline constexpr std::string_view kOperands =
    "const float* m, const float* v, const float* c, const float* u, float inverse_n";
inline constexpr std::string_view kKnow =
    "know(const float* s, const float* u, float inverse_n, float* c)";

}  // namespace kiln::mix_order_reduction
