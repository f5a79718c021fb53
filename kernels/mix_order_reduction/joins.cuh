// Making one value of many: sums and extremes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/parameters.hpp"
#include "templates/arithmetic.cuh"

namespace kiln::mix_order_reduction {

// Of no values.
inline float identity(Join join) {
  if (join == Join::min) return __uint_as_float(0x7f800000u);  // infinity
  return join == Join::max ? __uint_as_float(0xff800000u) : 0.0f;
}

inline float joined(Join join, float a, float b) {
  if (join == Join::sum) return __fadd_rn(a, b);
  return join == Join::min ? minimum(a, b) : maximum(a, b);
}

// For tree.cuh.
template <Join J>
struct Joining {
  static float of(float a, float b) { return joined(J, a, b); }
};

}  // namespace kiln::mix_order_reduction
