// Whether a candidate's threads, registers and shared memory fit a device.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/fit.hpp"

#include <algorithm>

namespace kiln::mix_order_reduction {

std::int64_t smem_limit(const DeviceLimits& limits, int ctas) {
  const std::int64_t share = limits.smem_per_sm_bytes / ctas - limits.smem_reserved_per_cta_bytes;
  return std::min<std::int64_t>(limits.smem_per_cta_bytes, share);
}

int stages_that_fit(Geometry geometry, std::int64_t limit, int most) {
  for (int stages = most; stages >= 1; --stages) {
    geometry.stages = stages;
    if (smem_bytes(geometry) <= limit) return stages;
  }
  return 0;
}

std::int64_t stage_bytes_per_sm(const Candidate& c) {
  return stage_bytes(c.geometry) * c.ctas_per_sm;
}

int useful_stages(const Candidate& c, int asked) {
  if (!c.keep_inputs) return asked;
  // Where several CTAs share an SM one loads while another computes.
  const std::int64_t enough = (c.ctas_per_sm > 1 ? 28 : 36) * 1024;
  return static_cast<int>(std::min<std::int64_t>(
      asked, ceil_div(enough, std::max<std::int64_t>(stage_bytes_per_sm(c), 1))));
}

bool threads_fit(const DeviceLimits& limits, const Candidate& c) {
  return c.geometry.threads <= limits.threads_per_cta &&
         c.geometry.threads * c.ctas_per_sm <= limits.threads_per_sm &&
         c.ctas_per_sm <= limits.ctas_per_sm &&
         (c.geometry.cluster_ctas == 1 || c.geometry.cluster_ctas <= limits.max_cluster_ctas);
}

bool registers_fit(const Op& op, const DeviceLimits& limits, const Candidate& c) {
  // The same source takes more on sm_120 up: 124 and 120 of 128 by the estimate spilled there
  // alone.
  const int spare = limits.arch.major >= 12 ? 12 : 0;
  const int allowed = registers_allowed(limits, c.geometry.threads, c.ctas_per_sm);
  return registers_needed(op, c) + spare <= allowed;
}

bool fits(const Op& op, const DeviceLimits& limits, const Candidate& c) {
  return threads_fit(limits, c) && registers_fit(op, limits, c) &&
         stages_that_fit(c.geometry, smem_limit(limits, c.ctas_per_sm), 1) == 1;
}

}  // namespace kiln::mix_order_reduction
