// Tiles of the portable kernel, for the host that launches it and the device code alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/grouped_gemm/layout.hpp"

namespace kiln::grouped_gemm {

inline constexpr int kPortableTile = 128;  // output rows and columns
inline constexpr int kPortableDepth = 32;  // of a step of the reduction
inline constexpr int kPortableStages = 3;  // 48 KiB: two CTAs on an SM of 100 KiB
inline constexpr int kPortableThreads = 128;
inline constexpr int kPortableSmemBytes = kPortableStages * 2 * kPortableTile * kPortableDepth * 2;

}  // namespace kiln::grouped_gemm
