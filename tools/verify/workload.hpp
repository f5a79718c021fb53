// Tensors for timing: a block of random values repeated over device memory, so that large shapes
// cost no host time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <kiln/service.hpp>

#include "kernels/family.hpp"
#include "src/cuda/driver.hpp"
#include "tools/verify/device.hpp"
#include "tools/verify/image.hpp"

namespace kiln::verify {

class Workload {
 public:
  // `sizes` of groups; empty: the family's own.
  Workload(const Driver& driver,
           const Signature& signature,
           std::int64_t rows,
           std::uint64_t seed,
           const std::vector<std::int64_t>& sizes = {});

  [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
  [[nodiscard]] Arguments arguments() const;

 private:
  Problem problem_;
  std::vector<Layout> layouts_;
  std::vector<Block> blocks_;
};

}  // namespace kiln::verify
