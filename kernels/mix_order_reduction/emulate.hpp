// A program on the host with the bits that every kernel of the family must give: fp32, one rounding
// an operation, sums in the order of order.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/mix_order_reduction/program.hpp"

namespace kiln::mix_order_reduction {

// Of each output, in order. NaN payloads and the sign of NaN aside, bit for bit.
[[nodiscard]] std::vector<HostTensor> emulate(const Program& program,
                                              std::int64_t n,
                                              std::int64_t rows,
                                              std::span<const HostTensor> tensors);

// To nearest even, in the type's range and its subnormals.
[[nodiscard]] double rounded_to(DType type, float value);

}  // namespace kiln::mix_order_reduction
