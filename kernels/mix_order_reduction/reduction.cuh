// A mix-order reduction in one launch, for any formula.
//   Formula::reduce adds an element to its row's sums and to its columns' sums; Formula::output
//   gives what is written there, once the row's sums are known.
// A CTA, or a cluster of CTAs for wide rows, owns whole row blocks, one after another; a thread
// owns the same columns of every row of its group. Sums follow order.hpp. Matrices are written with
// =; column sums with =, or += (the sum rounded first to the output's type) when accumulate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/columns.cuh"
#include "kernels/mix_order_reduction/parameters.hpp"
#include "kernels/mix_order_reduction/row_sum.cuh"
#include "kernels/mix_order_reduction/stages.cuh"
#include "templates/arithmetic.cuh"
#include "templates/grid_barrier.cuh"

namespace kiln::mix_order_reduction {

// Formula gives: Matrix, the type of every matrix; Sum, the type of the column outputs; the counts
// below; RowVectors, what a thread holds of the row vectors for eight columns, with load and widen;
// reduce and output, of one element:
//   m: matrices   v: row vectors   c: column vectors, of this row   s: row sums   q: column sums
//   o: matrix outputs
template <class C>
struct Reduction {
  using Formula = typename C::Formula;
  using X = typename Formula::Matrix;
  using RowVectors = typename Formula::RowVectors;
  using Owned = Columns<C>;
  using BlockRows = Rows<C>;
  static constexpr Geometry kGeometry = C::geometry;
  static constexpr int kInputs = kGeometry.inputs;
  // Matrices that sums need come first; the others wait in shared memory for the output.
  static constexpr int kKept = Formula::kept_matrices;
  static constexpr int kOutputs = Formula::matrix_outputs;
  static constexpr int kRowVectors = Formula::row_vectors;
  static constexpr int kColumnVectors = Formula::column_vectors;
  static constexpr int kRowSums = kGeometry.row_sums;
  static constexpr int kColumnSums = Formula::column_sums;
  static constexpr int kRows = kGeometry.rows_per_step;
  static constexpr int kStages = kGeometry.stages;
  static constexpr int kOctets = Owned::kOctets;
  static constexpr int kLanes = Owned::kLanesPerThread;

  const ReductionParameters& p;
  Stages<C, X> stages;
  float* reduction;  // in shared memory, after the stage buffers
  float* scratch;    // over the stage buffers, when they are drained
  RowVectors row_vectors[C::row_vectors_in_registers ? kOctets : 1];
  float column[kColumnSums > 0 ? kColumnSums : 1][kColumnSums > 0 ? kOctets : 1][kVector];

  // Of one step and row: the column vectors' elements.
  using Scalars = float[kRows][kColumnVectors > 0 ? kColumnVectors : 1];
  using Kept = Octet<X>[C::keep_inputs ? kKept : 1][C::keep_inputs ? kRows : 1]
                       [C::keep_inputs ? kOctets : 1];

  void start_step(int step, int stage, const BlockRows& rows) const {
    stages.start(step, stage, rows, p.vector_access, [&](int i) {
      // By index or by selects: the same loads, but wide rows with one sum spilled with the one,
      // and with two sums with the other (NVRTC 13.0).
      if constexpr (kRowSums == 1) return p.inputs[i];
      MatrixView view = p.inputs[0];
#pragma unroll
      for (int k = 1; k < kInputs; ++k) {
        if (i == k) view = p.inputs[k];
      }
      return view;
    });
  }

  RowVectors row_vectors_of(int v) const {
    if constexpr (kRowVectors > 0 && C::row_vectors_in_registers) {
      return row_vectors[v];
    } else {
      return RowVectors::template load<C>(p, v);
    }
  }

  // Matrix i of this thread's octet v.
  Octet<X> input_octet(const Kept& kept, int stage, int r, int i, int v) const {
    if constexpr (C::keep_inputs) {
      if (i < kKept) return kept[i][r][v];
    }
    return read_octet<C, X>(stages.slot(stage, r, i), v);
  }

  // One row's share of the row sums and the column sums. lane_sum: of the row's first sum.
  template <int Sums>
  void reduce_octet(
      int stage, int r, int v, const Kept& kept, const Scalars& scalars, float (&lane_sum)[Sums]) {
    const RowVectors vectors = row_vectors_of(v);
    Octet<X> in[kKept];
#pragma unroll
    for (int k = 0; k < kKept; ++k) in[k] = input_octet(kept, stage, r, k, v);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      if (!Owned::kWhole && i >= Owned::count(v)) break;
      float m[kKept], w[kRowVectors > 0 ? kRowVectors : 1];
      float s[kRowSums > 0 ? kRowSums : 1], q[kColumnSums > 0 ? kColumnSums : 1];
#pragma unroll
      for (int k = 0; k < kKept; ++k) m[k] = in[k].get(i);
      vectors.widen(i, w);
#pragma unroll
      for (int k = 0; k < kRowSums; ++k) s[k] = lane_sum[lane_index(r, k, v)];
#pragma unroll
      for (int k = 0; k < kColumnSums; ++k) q[k] = column[k][v][i];
      Formula::reduce(m, w, scalars[r], C::inverse_n, s, q);
#pragma unroll
      for (int k = 0; k < kRowSums; ++k) lane_sum[lane_index(r, k, v)] = s[k];
#pragma unroll
      for (int k = 0; k < kColumnSums; ++k) column[k][v][i] = q[k];
    }
  }
  static constexpr int lane_index(int r, int sum, int v) {
    return (r * kRowSums + sum) * kLanes + v % kLanes;
  }

  void write_octet(int stage,
                   int r,
                   int v,
                   i64 row,
                   const Kept& kept,
                   const Scalars& scalars,
                   const float (&row_sum)[kRows * kRowSums]) const {
    const RowVectors vectors = row_vectors_of(v);
    Octet<X> in[kInputs], out[kOutputs];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) in[k] = input_octet(kept, stage, r, k, v);
#pragma unroll
    for (int i = 0; i < kVector; i += 2) {
      float value[2][kOutputs];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float m[kInputs], w[kRowVectors > 0 ? kRowVectors : 1];
#pragma unroll
        for (int k = 0; k < kInputs; ++k) m[k] = in[k].get(i + j);
        vectors.widen(i + j, w);
        Formula::output(m, w, scalars[r], C::inverse_n, &row_sum[r * kRowSums], value[j]);
      }
#pragma unroll
      for (int o = 0; o < kOutputs; ++o) out[o].set_pair(i, value[0][o], value[1][o]);
    }
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      char* to = static_cast<char*>(p.outputs[o].base) + row * p.outputs[o].stride * X::kBytes;
      store_octet<C, X>(to, v, out[o], p.vector_access);
    }
  }

  void keep(int stage, Kept& kept) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int v = 0; v < kOctets; ++v) {
#pragma unroll
        for (int k = 0; k < kKept; ++k)
          kept[k][r][v] = read_octet<C, X>(stages.slot(stage, r, k), v);
      }
    }
  }

  // One step: kRows rows of every group.
  void compute(
      int step, int stage, const BlockRows& rows, const Kept& kept, const Scalars& scalars) {
    float lane_sum[kRows * kRowSums * kLanes] = {};
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (!rows.has(step, r)) continue;
#pragma unroll
      for (int v = 0; v < kOctets; ++v) {
        if (Owned::owns(v)) reduce_octet(stage, r, v, kept, scalars, lane_sum);
      }
    }
    float row_sum[kRows * kRowSums];
    row_sums<C>(lane_sum, row_sum, reduction, step & 1);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (!rows.has(step, r)) continue;
      const i64 row = rows.row(step, r);
#pragma unroll
      for (int v = 0; v < kOctets; ++v) {
        if (Owned::owns(v)) write_octet(stage, r, v, row, kept, scalars, row_sum);
      }
    }
  }

  void load_scalars(int step, const BlockRows& rows, Scalars& scalars) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int k = 0; k < kColumnVectors; ++k)
        scalars[r][k] = rows.has(step, r) ? p.column_vectors[k][rows.row(step, r)] : 0.0f;
    }
  }

  void run_block(int block) {
    const BlockRows rows(p.split, block);
    const int steps = rows.steps();
    Scalars scalars, next;
    load_scalars(0, rows, next);
    // Steps below 0 only fill the pipeline. Kept inputs leave their buffer at once, and it is
    // refilled while the rows are computed; else both passes read shared memory, and the buffer is
    // refilled after them.
    constexpr bool kRefillEarly = C::keep_inputs && kKept == kInputs;
    Kept kept;
    for (int s = -kStages, stage = 0; s < steps;
         ++s, stage = stage + 1 == kStages ? 0 : stage + 1) {
      if (s >= 0) {
        copy_async_wait<kStages - 1>();
        __syncwarp();
        if constexpr (C::keep_inputs) keep(stage, kept);
      }
      if constexpr (kRefillEarly) {
        __syncwarp();
        start_step(s + kStages, stage, rows);
      }
      if (s >= 0) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int k = 0; k < kColumnVectors; ++k) scalars[r][k] = next[r][k];
        }
        load_scalars(s + 1, rows, next);
        compute(s, stage, rows, kept, scalars);
      }
      if constexpr (!kRefillEarly) {
        __syncwarp();
        start_step(s + kStages, stage, rows);
      }
    }
    copy_async_wait<0>();
  }

  void run() {
    if constexpr (kRowVectors > 0 && C::row_vectors_in_registers) {
#pragma unroll
      for (int v = 0; v < kOctets; ++v) {
        if (Owned::owns(v)) row_vectors[v] = RowVectors::template load<C>(p, v);
      }
    }
    constexpr int kCtas = kGeometry.cluster_ctas;
    if constexpr (kCtas > 1) {  // a neighbour's shared memory may be written only once it runs
      cluster_arrive();
      cluster_wait();
    }
    for (int block = blockIdx.x / kCtas; block < p.split.blocks; block += gridDim.x / kCtas) {
#pragma unroll
      for (int k = 0; k < kColumnSums; ++k) {
#pragma unroll
        for (int v = 0; v < kOctets; ++v) {
#pragma unroll
          for (int i = 0; i < kVector; ++i) column[k][v][i] = 0.0f;
        }
      }
      run_block(block);
#pragma unroll
      for (int k = 0; k < kColumnSums; ++k)
        write_partials<C>(column[k], p.partials + k * p.partials_stride, block, scratch);
    }
    if constexpr (kColumnSums > 0) {
      grid_barrier(p.barrier);
#pragma unroll 1
      for (int k = 0; k < kColumnSums; ++k) {
        finish_columns<typename Formula::Sum, kGeometry.threads>(p.partials + k * p.partials_stride,
                                                                 kGeometry.n,
                                                                 p.split.blocks,
                                                                 p.finish_shift,
                                                                 p.column_sums[k],
                                                                 C::accumulate,
                                                                 scratch);
      }
    }
  }
};

template <class C>
inline void reduce(const ReductionParameters& p) {
  static_assert(smem_bytes(C::geometry) == C::smem_bytes,
                "the planner and the device code disagree on shared memory");
  extern __shared__ Chunk shared_memory[];
  char* base = reinterpret_cast<char*>(shared_memory);
  Reduction<C> kernel{
      p,
      {shared_address(base)},
      reinterpret_cast<float*>(base + smem_bytes(C::geometry) - reduction_bytes(C::geometry)),
      reinterpret_cast<float*>(base)};
  kernel.run();
}

}  // namespace kiln::mix_order_reduction
