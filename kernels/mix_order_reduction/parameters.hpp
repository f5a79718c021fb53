// The struct that every kernel takes by value. Shared by host and device, so they agree by
// construction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/order.hpp"

namespace kiln::mix_order_reduction {

// A matrix [rows, n]: row-major, columns contiguous, the stride in elements.
struct MatrixView {
  const void* base;
  long long stride;
};
struct MutableMatrixView {
  void* base;
  long long stride;
};

inline constexpr int kMaxMatrices = 6;  // inputs
inline constexpr int kMaxMatrixOutputs = 2;
inline constexpr int kMaxVectors = 4;  // row vectors; column vectors; column sums

// Tensors stand in the description's order. The fused kernel's matrices and row vectors close ranks
// where one is absent; in composed kernels, which serve several signatures, an absent one is null.
struct ReductionParameters {
  MatrixView inputs[kMaxMatrices];
  const void* row_vectors[kMaxVectors];      // [n]
  const float* column_vectors[kMaxVectors];  // [rows]
  MutableMatrixView outputs[kMaxMatrixOutputs];
  void* column_sums[kMaxVectors];  // [n]; close ranks in every kernel
  float* partials;                 // for each column sum [row_blocks, n], workspace
  long long partials_stride;       // floats from one column sum's to the next one's
  unsigned* barrier;               // fused: grid barrier counter
  RowSplit split;
  int finish_shift;       // fused: a CTA finishes 2^finish_shift columns at a time
  int vector_access;      // fused: every row of every matrix starts on 16 bytes
  int row_vector_access;  // fused: every row vector does
  long long rows;         // of every matrix; `split` says who sums which
  // Composed: what the fused kernel knows when it is compiled.
  int accumulate;
  long long n;
  float inverse_n;  // 1 / n, rounded to fp32
  int chains;
  int lanes;
};

}  // namespace kiln::mix_order_reduction
