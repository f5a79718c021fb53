// A program on the host with the bits that every kernel of the family must give: fp32, one rounding
// an operation, sums in the order of order.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/mix_order_reduction/elementary.hpp"
#include "kernels/mix_order_reduction/program.hpp"

namespace kiln::mix_order_reduction {

// The arithmetic of elementary.hpp on the host.
struct HostArithmetic {
  static float fma(float a, float b, float c) { return std::fmaf(a, b, c); }
  static float divide(float a, float b) { return a / b; }
  static unsigned bits(float a) { return std::bit_cast<unsigned>(a); }
  static float value(unsigned a) { return std::bit_cast<float>(a); }
};
using HostFunctions = Elementary<HostArithmetic>;

// Of each output, in order. NaN payloads and the sign of NaN aside, bit for bit.
[[nodiscard]] std::vector<HostTensor> emulate(const Program& program,
                                              std::int64_t n,
                                              std::int64_t rows,
                                              std::span<const HostTensor> tensors);

// To nearest even, in the type's range and its subnormals.
[[nodiscard]] double rounded_to(DType type, float value);

}  // namespace kiln::mix_order_reduction
