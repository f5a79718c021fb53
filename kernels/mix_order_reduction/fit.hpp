// Whether a candidate's threads, registers and shared memory fit a device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/mix_order_reduction/candidates.hpp"

namespace kiln::mix_order_reduction {

// Dynamic shared memory a CTA may have where so many share an SM.
[[nodiscard]] std::int64_t smem_limit(const DeviceLimits& limits, int ctas);

// Stages that fit the budget exactly: the largest count, up to `most`, whose layout stays within
// the limit; 0 when none does.
[[nodiscard]] int stages_that_fit(Geometry geometry, std::int64_t limit, int most);

// Bytes an SM has under way where every buffer of one stage is being filled.
[[nodiscard]] std::int64_t stage_bytes_per_sm(const Candidate& candidate);

// Stages beyond which a kernel got slower, measured on an H200, where inputs move to registers at
// once and their buffer is a second one already: see the family's README.
[[nodiscard]] int useful_stages(const Candidate& candidate, int asked);

[[nodiscard]] bool threads_fit(const DeviceLimits& limits, const Candidate& candidate);
[[nodiscard]] bool registers_fit(const Op& op,
                                 const DeviceLimits& limits,
                                 const Candidate& candidate);

// All of them, with one stage.
[[nodiscard]] bool fits(const Op& op, const DeviceLimits& limits, const Candidate& candidate);

}  // namespace kiln::mix_order_reduction
