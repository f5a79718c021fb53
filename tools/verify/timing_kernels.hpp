// The two small kernels that timing needs, compiled by NVRTC when they are needed and never cached.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/policy.hpp>

#include "src/core/cubin.hpp"

namespace kiln::verify {

inline constexpr const char* kReadKernel =
    "kiln_read";  // (const uint4* data, long long count, unsigned* sink)
inline constexpr const char* kSpinKernel = "kiln_spin";  // (long long cycles)

// Throws Error{nvrtc_missing} or Error{compile_failed}.
[[nodiscard]] Cubin compile_timing_kernels(const Arch& arch,
                                           const Policy& policy,
                                           const std::vector<std::string>& nvrtc_folders,
                                           std::optional<int> driver_cuda_major);

}  // namespace kiln::verify
