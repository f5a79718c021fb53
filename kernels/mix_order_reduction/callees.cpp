// The table of functions.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/callees.hpp"

#include <algorithm>
#include <array>

namespace kiln::mix_order_reduction {
namespace {

constexpr std::array<Function, 25> kFunctions{{
    {"abs", Callee::abs, 1},
    {"bf16", Callee::bf16, 1},
    {"cast", Callee::cast, 2},
    {"column_absmax", Callee::column_absmax, 1},
    {"column_max", Callee::column_max, 1},
    {"column_min", Callee::column_min, 1},
    {"column_sum", Callee::column_sum, 1},
    {"erf", Callee::erf, 1},
    {"exp", Callee::exp, 1},
    {"f16", Callee::f16, 1},
    {"fma", Callee::fma, 3},
    {"given", Callee::given, 3},
    {"log", Callee::log, 1},
    {"max", Callee::max, 2},
    {"min", Callee::min, 2},
    {"row_absmax", Callee::row_absmax, 1},
    {"row_max", Callee::row_max, 1},
    {"row_mean", Callee::row_mean, 1},
    {"row_min", Callee::row_min, 1},
    {"row_sum", Callee::row_sum, 1},
    {"rsqrt", Callee::rsqrt, 1},
    {"select", Callee::select, 3},
    {"sigmoid", Callee::sigmoid, 1},
    {"sqrt", Callee::sqrt, 1},
    {"tanh", Callee::tanh, 1},
}};

}  // namespace

std::span<const Function> functions() noexcept { return kFunctions; }

const Function* find_function(std::string_view name) noexcept {
  const auto found = std::find_if(
      kFunctions.begin(), kFunctions.end(), [&](const Function& one) { return one.name == name; });
  return found == kFunctions.end() ? nullptr : &*found;
}

std::optional<Callee> reduction(const Expression& value) {
  if (value.kind != Expression::Kind::call) return std::nullopt;
  const Function* function = find_function(value.text);
  if (function == nullptr) return std::nullopt;
  if (reduces_row(function->callee) || reduces_column(function->callee)) return function->callee;
  return std::nullopt;
}

}  // namespace kiln::mix_order_reduction
