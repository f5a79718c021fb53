// Geometry and parameters of scale_rows, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::scale_rows {

inline constexpr int kThreads = 256;

// One scale a CTA lies in shared memory; 16 bytes, the unit of an allocation.
constexpr long long smem_bytes(int threads) { return threads > 0 ? 16 : 0; }

struct Parameters {
  const void* x;   // [rows, n]
  const float* s;  // [rows], contiguous
  void* y;         // [rows, n]
  long long rows;
  long long n;         // read by the composed kernels only
  long long x_stride;  // elements
  long long y_stride;
};

}  // namespace kiln::scale_rows
