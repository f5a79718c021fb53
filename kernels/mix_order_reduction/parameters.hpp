// The structs kernels take by value. Shared by host and device, so they agree by construction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/order.hpp"

namespace kiln::mix_order_reduction {

// rms_norm_backward, fused: one launch. Strides in elements. Row-major; columns are contiguous.
struct RmsNormBackwardParameters {
  const void* dy;        // [rows, n]
  const void* x;         // [rows, n]
  const float* rstd;     // [rows], contiguous
  const void* w;         // [n] or null
  const void* residual;  // [rows, n] or null
  void* dx;              // [rows, n]
  void* dw;              // [n] or null
  float* partials;       // [row_blocks, n], workspace
  unsigned* barrier;     // grid barrier counter
  long long rows;
  long long dy_stride;
  long long x_stride;
  long long residual_stride;
  long long dx_stride;
  RowSplit split;
  int finish_shift;   // a CTA finishes 2^finish_shift columns at a time
  int vector_access;  // every row of dy, x, residual and dx starts on 16 bytes
  int weight_vector_access;
};

// Composed: row kernel (dx), column kernel (partials), finish kernel (dw). n is a run-time value.
struct ComposedParameters {
  const void* dy;
  const void* x;
  const float* rstd;
  const void* w;
  const void* residual;  // null: none
  void* dx;
  void* dw;
  float* partials;
  long long rows;
  long long n;
  long long dy_stride;
  long long x_stride;
  long long residual_stride;
  long long dx_stride;
  float inverse_n;  // 1 / n, rounded to fp32
  RowSplit split;
  int chains;
  int lanes;
  int accumulate;
};

}  // namespace kiln::mix_order_reduction
