// The ways to lay a row out over threads, best first, and what each needs of the register file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/mix_order_reduction/layout.hpp"
#include "kernels/mix_order_reduction/op.hpp"

namespace kiln::mix_order_reduction {

// One way to lay a row out over threads. The planner lists them best first; the first that fits is
// taken.
struct Candidate {
  Geometry geometry;
  int ctas_per_sm = 1;
  // Inputs move to registers at once, so that one buffer can refill while rows are computed.
  bool keep_inputs = true;
  bool row_vectors_in_registers = true;
  // Better than those that follow with so many stages, worse with fewer.
  int least_stages = 1;
  // Measured to be faster with one stage than those that follow are with two.
  bool enough_at_one_stage = false;
  // Slower than those before it: only where none of them fits, whatever their stages.
  bool last_resort = false;
};

[[nodiscard]] std::vector<Candidate> candidates(const Op& op);

[[nodiscard]] DType matrix_type(const Op& op);
[[nodiscard]] bool one_matrix_type(const Op& op);

// Registers a thread needs, by an estimate that errs upwards; what it may use so that `ctas` CTAs
// fit an SM.
[[nodiscard]] int registers_needed(const Op& op, const Candidate& candidate);
[[nodiscard]] int registers_allowed(const DeviceLimits& limits, int threads, int ctas);

}  // namespace kiln::mix_order_reduction
