// The struct that every kernel takes by value. Shared by host and device, so they agree by
// construction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/order.hpp"

namespace kiln::mix_order_reduction {

// A matrix [rows, n]: row-major, columns contiguous, the stride in elements. Fused: pitch, the
// bytes from a row to the next one of its chain.
struct MatrixView {
  const void* base;
  long long stride;
  long long pitch;
};
struct MutableMatrixView {
  void* base;
  long long stride;
  long long pitch;
};

inline constexpr int kMaxMatrices = 8;  // inputs
inline constexpr int kMaxMatrixOutputs = 4;
// Row vectors; column vectors; scalars; column outputs; column sums; row sums of one pass.
inline constexpr int kMaxVectors = 4;

// Types where they are known at run time only.
enum class ElementType : unsigned char { f32, f16, bf16 };

// How many values become one, as Reduction of program.hpp.
enum class Join { sum, min, max, absmax };

// Tensors stand in the description's order. The fused kernel's close ranks where one is absent; in
// composed kernels, which serve several signatures, an absent one is null. Column sums close ranks
// in every kernel.
struct ReductionParameters {
  MatrixView inputs[kMaxMatrices];
  const void* row_vectors[kMaxVectors];      // [n]
  const float* column_vectors[kMaxVectors];  // [rows]
  float scalars[kMaxVectors];
  MutableMatrixView outputs[kMaxMatrixOutputs];
  float* column_outputs[kMaxVectors];  // [rows]
  void* column_sums[kMaxVectors];      // [n]
  float* partials;                     // for each column sum [row_blocks, n], workspace
  long long partials_stride;           // floats from one column sum's to the next one's
  float* chain_sums;                   // composed: [row_blocks, column sums, n], workspace
  unsigned* barrier;                   // fused: grid barrier counter
  RowSplit split;
  int finish_shift;       // fused: a CTA finishes 2^finish_shift columns at a time
  int vector_access;      // fused: every row of every matrix starts on 16 bytes
  int row_vector_access;  // fused: every row vector does
  long long rows;         // of every matrix; `split` says who sums which
  // Composed: what the fused kernel knows when it is compiled.
  ElementType input_types[kMaxMatrices];
  ElementType row_vector_types[kMaxVectors];
  ElementType output_types[kMaxMatrixOutputs];
  ElementType column_sum_types[kMaxVectors];
  Join column_joins[kMaxVectors];
  bool accumulate[kMaxVectors];  // a column sum
  long long n;
  float inverse_n;  // 1 / n, rounded to fp32
  int chains;
  int lanes;
};

}  // namespace kiln::mix_order_reduction
