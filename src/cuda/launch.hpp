// Launching a kernel whose one parameter is a struct by value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/cuda/driver.hpp"

namespace kiln {

struct LaunchShape {
  std::array<unsigned, 3> grid{1, 1, 1};
  unsigned threads = 0;         // a CTA
  unsigned cluster_ctas = 1;    // along x
  bool cooperative = false;     // all CTAs resident: they wait for one another
  std::int64_t smem_bytes = 0;  // dynamic, a CTA
};

// A launch with everything but stream and parameters decided. Plain data: copyable, and run() is
// thread-safe.
class PackedLaunch {
 public:
  PackedLaunch() = default;
  // Throws Error{internal} for a shape that no device accepts. Allocates nothing otherwise.
  PackedLaunch(const Driver& driver, CUfunc_st* function, const LaunchShape& shape);

  // cuLaunchKernelEx and nothing else. `parameters` is the struct; the driver copies it before this
  // returns. The context that the function was resolved for must be current, or be the stream's.
  [[nodiscard]] int run(CUstream_st* stream, const void* parameters) const noexcept;

 private:
  int (*launch_)(const CUlaunchConfig_st*, CUfunc_st*, void**, void**) = nullptr;
  CUfunc_st* function_ = nullptr;
  LaunchShape shape_;
  // CUlaunchAttribute[2]: cuda.h stays in .cpp files, which check the size.
  static constexpr std::size_t kAttributeBytes = 72;
  alignas(8) std::array<std::byte, 2 * kAttributeBytes> attributes_{};
  unsigned attribute_count_ = 0;
};

// Packs and runs; throws Error{driver_error} when the driver refuses.
void launch(const Driver& driver,
            CUfunc_st* function,
            const LaunchShape& shape,
            CUstream_st* stream,
            const void* parameters);

}  // namespace kiln
