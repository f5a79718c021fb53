// The structs kernels take by value. Shared by host and device, so they agree by construction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/tensor_map.hpp"

namespace kiln::grouped_gemm {

// The Hopper kernel. D = A B: forward x w^T, dgrad g w, wgrad g^T x.
struct HopperParameters {
  TensorMap a;
  TensorMap b;
  TensorMap out;
  const int* ends;               // [groups]: the end row of each
  void* output;                  // base of out
  unsigned long long* counters;  // two, zero before and after: items drawn, clusters that are done
  long long output_stride;       // elements between rows
  long long rows;                // of all groups, or more
  int groups;
  int aligned;  // the copy engine can write out
};

// The portable kernel: everything is a run-time value. Strides in elements.
struct PortableParameters {
  const void* a;  // forward x, dgrad g, wgrad g
  const void* b;  // forward w, dgrad w, wgrad x
  void* output;
  const int* ends;  // [groups]
  long long rows;   // of all groups, or more
  long long n;
  long long k;
  long long a_stride;             // between rows
  long long b_stride;             // between rows
  long long output_stride;        // between rows
  long long w_group_stride;       // between groups of w (forward, dgrad)
  long long output_group_stride;  // between groups of dw (wgrad)
  int groups;
  int accumulate;
  int output_vector;  // every row of the output starts on 16 bytes
};

}  // namespace kiln::grouped_gemm
