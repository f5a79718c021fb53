// What `kiln tune` measures: candidates by name, and which of them Policy::candidate forces.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/mix_order_reduction/candidates.hpp"

namespace kiln::mix_order_reduction {

// Every one of candidates(op), in its order, and each of them with 1, 2 and 4 rows a step, clusters
// also with two CTAs an SM. Those that come to the same kernel are there once.
[[nodiscard]] std::vector<Candidate> choices(const Op& op);

// r<rows a step>_t<threads>_l<lanes a thread>_c<CTAs an SM>_k<inputs kept>_w<row vectors in
// registers>_x<CTAs a cluster>: "r2_t256_l2_c1_k1_w1_x1".
[[nodiscard]] std::string candidate_name(const Candidate& candidate);

// Throws Error{internal} for a name that no choice has: Family::candidates lists those there are.
[[nodiscard]] Candidate choice_named(const Op& op, std::string_view name);

}  // namespace kiln::mix_order_reduction
