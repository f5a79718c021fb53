// A program in double precision, with a bound on the error of each element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/mix_order_reduction/program.hpp"

namespace kiln::mix_order_reduction {

// Of each output, in order. `tensors` holds every input by name, and outputs that accumulate with
// the values before the run. Sums are bounded for the order of order.hpp.
[[nodiscard]] std::vector<Expected> evaluate(const Program& program,
                                             std::int64_t n,
                                             std::int64_t rows,
                                             std::span<const HostTensor> tensors);

// The tensors of a problem of that size, and what it moves and computes.
[[nodiscard]] Problem problem_of(const Program& program, std::int64_t n, std::int64_t rows);

}  // namespace kiln::mix_order_reduction
