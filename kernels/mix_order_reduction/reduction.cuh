// A mix-order reduction in one launch, for any formula.
//   In each pass over a row Formula::reduce adds an element to the row's sums and to its columns';
//   Formula::know gives the row's values once the sums are known; Formula::last gives what is
//   written, and adds to the columns' sums that need the row's values.
// A CTA, or a cluster of CTAs for wide rows, owns whole row blocks, one after another; a thread
// owns the same columns of every row of its group. Sums follow order.hpp. Matrices are written with
// =; column sums with =, or += (the sum rounded first to the output's type) when accumulate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/columns.cuh"
#include "kernels/mix_order_reduction/row_sum.cuh"
#include "kernels/mix_order_reduction/stages.cuh"
#include "templates/grid_barrier.cuh"

namespace kiln::mix_order_reduction {

// Formula gives: Matrix, the type of every matrix; the counts below; RowVectors, what a thread
// holds of the row vectors for eight columns, with load and widen; how sums are joined;
// loaded_value, know and write_row, of one row; reduce and last, of one element; finish, of all
// column sums:
//   m: matrices   v: row vectors   c: the row's values, column vectors first   u: scalars
//   s: row sums   q: column sums   o: matrix outputs
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
  static constexpr int kRowValues = Formula::row_values;
  static constexpr int kPasses = Formula::passes;
  static constexpr int kColumnSums = Formula::column_sums;
  static constexpr int kRows = kGeometry.rows_per_step;
  static constexpr int kStages = kGeometry.stages;
  static constexpr int kOctets = Owned::kOctets;
  static constexpr int kLanes = Owned::kLanesPerThread;
  // A branch that is always taken makes the compiler finish one octet before the next: where passes
  // read shared memory anew, or hold many octets, it else loads all of them at once and spills
  // (NVRTC 13.0).
  static constexpr bool kOneByOne = Owned::kVectorOnly && kOctets >= (C::keep_inputs ? 4 : 2);
  // Passes over kept inputs share what they compute where they are in one block of code: a row that
  // is not there is then computed from whatever its buffer holds, and added to no column. In
  // branches of their own they repeat it: a quarter more instructions (layer norm backward).
  static constexpr bool kShares = C::keep_inputs && kOctets < 4;
  static constexpr bool kUniform = Stages<C, X>::kUniform;
  static_assert(Formula::loaded_values <= Formula::row_values,
                "what column vectors hold are the first of a row's values");

  const ReductionParameters& p;
  Stages<C, X> stages;
  float* reduction;  // in shared memory, after the stage buffers
  float* scratch;    // over the stage buffers, when they are drained
  RowVectors row_vectors[C::row_vectors_in_registers ? kOctets : 1];
  int turn = 0;  // of row_sums
  float column[kColumnSums > 0 ? kColumnSums : 1][kColumnSums > 0 ? kOctets : 1][kVector];

  static constexpr int at_least_one(int count) { return count > 0 ? count : 1; }
  // Of one step and row: what column vectors hold, then what passes give.
  using Values = float[kRows][at_least_one(kRowValues)];
  // Where the next row of every output goes, or, as Sources, this thread's octet 0 of it.
  using Destinations = char * [at_least_one(kOutputs)];
  using Kept = Octet<X>[C::keep_inputs ? at_least_one(kKept) : 1][C::keep_inputs ? kRows : 1]
                       [C::keep_inputs ? kOctets : 1];

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

  static constexpr int lane_index(int r, int sums, int sum, int v) {
    return (r * sums + sum) * kLanes + v % kLanes;
  }

  // One row's share of a pass's row sums and column sums.
  template <int Pass, int Sums, int Lanes>
  void reduce_octet(int stage,
                    int r,
                    int v,
                    bool there,
                    const Kept& kept,
                    const Values& values,
                    float (&lane_sum)[Lanes]) {
    const RowVectors vectors = row_vectors_of(v);
    Octet<X> in[at_least_one(kKept)];
#pragma unroll
    for (int k = 0; k < kKept; ++k) in[k] = input_octet(kept, stage, r, k, v);
    const auto add = [&](bool to_row, bool to_columns) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        if (!Owned::kWhole && i >= Owned::count(v)) break;
        float m[at_least_one(kKept)], w[at_least_one(kRowVectors)];
        float s[Sums], q[at_least_one(kColumnSums)];
#pragma unroll
        for (int k = 0; k < kKept; ++k) m[k] = in[k].get(i);
        vectors.widen(i, w);
#pragma unroll
        for (int k = 0; k < Sums; ++k) s[k] = lane_sum[lane_index(r, Sums, k, v)];
#pragma unroll
        for (int k = 0; k < kColumnSums; ++k) q[k] = column[k][v][i];
        Formula::template reduce<Pass>(m, w, values[r], p.scalars, C::inverse_n, s, q);
#pragma unroll
        for (int k = 0; k < (to_row ? Sums : 0); ++k) lane_sum[lane_index(r, Sums, k, v)] = s[k];
#pragma unroll
        for (int k = 0; k < (to_columns ? kColumnSums : 0); ++k) column[k][v][i] = q[k];
      }
    };
    float before[Sums];
#pragma unroll
    for (int k = 0; k < Sums; ++k) before[k] = lane_sum[lane_index(r, Sums, k, v)];
    if (!kShares || BlockRows::surely_has(r) || kColumnSums == 0) {
      add(true, true);
    } else {
      add(true, false);
      if (there) add(false, true);
    }
#pragma unroll
    for (int k = 0; k < Sums; ++k) {
      if (!Owned::owns(v)) lane_sum[lane_index(r, Sums, k, v)] = before[k];
    }
  }

  // Passes over the rows of one step, from Pass on.
  template <int Pass>
  void reduce_rows(int step, int stage, const BlockRows& rows, const Kept& kept, Values& values) {
    if constexpr (Pass < kPasses) {
      constexpr int kSums = Formula::row_sums(Pass);
      constexpr Join kJoin = Formula::join(Pass);
      float lane_sum[kRows * kSums * kLanes];
#pragma unroll
      for (int i = 0; i < kRows * kSums * kLanes; ++i) lane_sum[i] = identity(kJoin);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const bool there = rows.has(step, r);
        if constexpr (Pass == 0 && kByRow) {
          if (r == 1) wait_for_rows<kRows - 2>();
          if (r == 2) wait_for_rows<1>();
          if (r == 3) wait_for_rows<0>();
        }
        if (!kShares && !there) continue;
#pragma unroll
        for (int v = 0; v < kOctets; ++v) {
          if (Owned::computes(v) && (!kOneByOne || p.vector_access))
            reduce_octet<Pass, kSums>(stage, r, v, there, kept, values, lane_sum);
        }
      }
      float row_sum[kRows * kSums];
      row_sums<C, kJoin, kSums>(lane_sum, row_sum, reduction, turn);
      turn = (turn + 1) & (kGeometry.cluster_ctas > 1 ? 3 : 1);  // over steps, passes and blocks
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        Formula::template know<Pass + 1>(&row_sum[r * kSums], p.scalars, C::inverse_n, values[r]);
      }
      reduce_rows<Pass + 1>(step, stage, rows, kept, values);
    }
  }

  void write_octet(int stage,
                   int r,
                   int v,
                   bool there,
                   const Destinations& to,
                   const Kept& kept,
                   const Values& values) {
    const RowVectors vectors = row_vectors_of(v);
    Octet<X> in[kInputs], out[at_least_one(kOutputs)];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) in[k] = input_octet(kept, stage, r, k, v);
#pragma unroll
    for (int i = 0; i < kVector; i += 2) {
      float value[2][at_least_one(kOutputs)];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float m[kInputs], w[at_least_one(kRowVectors)], q[at_least_one(kColumnSums)];
#pragma unroll
        for (int k = 0; k < kInputs; ++k) m[k] = in[k].get(i + j);
        vectors.widen(i + j, w);
#pragma unroll
        for (int k = 0; k < (Formula::last_sums ? kColumnSums : 0); ++k) q[k] = column[k][v][i + j];
        Formula::last(m, w, values[r], p.scalars, C::inverse_n, q, value[j]);
#pragma unroll
        for (int k = 0; k < (Formula::last_sums ? kColumnSums : 0); ++k) {
          if (there) column[k][v][i + j] = q[k];
        }
      }
#pragma unroll
      for (int o = 0; o < kOutputs; ++o) out[o].set_pair(i, value[0][o], value[1][o]);
    }
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      char* mine = to[o] + (kUniform ? Owned::column(0) * X::kBytes : 0);
      if (there && Owned::owns(v)) store_octet<C, X>(mine, v, out[o], p.vector_access);
    }
  }

  // Kept inputs leave their buffer at once, and it is refilled while the rows are computed. Else
  // every pass reads shared memory, and a row is refilled after its last: by itself where passes
  // can begin before the step's other rows have come.
  static constexpr bool kRefillEarly = C::keep_inputs && kKept == kInputs;
  static constexpr bool kByRow = !C::keep_inputs && kPasses > 0 && kRows > 1;
  // Until all but the last `Rest` rows of the oldest step have come.
  template <int Rest>
  static void wait_for_rows() {
    copy_async_wait<(kStages - 1) * (kByRow ? kRows : 1) + Rest>();
    __syncwarp();
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

  // What a step's rows have but their sums.
  void write_row(int step,
                 int stage,
                 int r,
                 const BlockRows& rows,
                 const Kept& kept,
                 Destinations& to,
                 const Values& values) {
    const bool there = (kShares && BlockRows::surely_has(r)) || rows.has(step, r);
    if (kShares || there) {
      if constexpr (Formula::column_outputs > 0) {
        if (there && Owned::leads_row()) Formula::write_row(p, rows.row(step, r), values[r]);
      }
      if constexpr (kOutputs > 0 || Formula::last_sums) {
#pragma unroll
        for (int v = 0; v < kOctets; ++v) {
          if (Owned::computes(v) && (!kOneByOne || p.vector_access))
            write_octet(stage, r, v, there, to, kept, values);
        }
      }
    }
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) to[o] += p.outputs[o].pitch;
  }

  void run_block(int block) {
    const BlockRows rows(p.split, block);
    const int steps = rows.steps();
    typename Stages<C, X>::Sources from;
    Stages<C, X>::first_sources(p, rows, from);
    Destinations to;
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      to[o] =
          static_cast<char*>(p.outputs[o].base) +
          (rows.row(0, 0) * p.outputs[o].stride + (kUniform ? 0 : Owned::column(0))) * X::kBytes;
    }
    Values values;
    LoadedValues<C> loaded{};
    Kept kept;
    // Steps below 0 only fill the pipeline.
    for (int s = -kStages, stage = 0; s < steps;
         ++s, stage = stage + 1 == kStages ? 0 : stage + 1) {
      if (s >= 0) {
        wait_for_rows<kByRow ? kRows - 1 : 0>();
        loaded.give(s, values);
#pragma unroll
        for (int r = 0; r < kRows; ++r)
          Formula::template know<0>(nullptr, p.scalars, C::inverse_n, values[r]);
        if constexpr (C::keep_inputs) keep(stage, kept);
      }
      loaded.load_after(s, p, rows);
      const auto refill = [&](int first, int rows_now) {
        __syncwarp();
#pragma unroll
        for (int r = first; r < first + rows_now; ++r)
          stages.start(p, s + kStages, stage, r, rows, from);
        copy_async_commit();
      };
      if constexpr (kRefillEarly) refill(0, kRows);
      if constexpr (kByRow) {
        if (s >= 0) reduce_rows<0>(s, stage, rows, kept, values);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          if (s >= 0) write_row(s, stage, r, rows, kept, to, values);
          refill(r, 1);
        }
      } else if (s >= 0) {
        reduce_rows<0>(s, stage, rows, kept, values);
#pragma unroll
        for (int r = 0; r < kRows; ++r) write_row(s, stage, r, rows, kept, to, values);
      }
      if constexpr (!kRefillEarly && !kByRow) refill(0, kRows);
    }
    copy_async_wait<0>();
  }

  // Column sums of a block, from K on.
  template <int K>
  void write_blocks(int block) {
    if constexpr (K < kColumnSums) {
      write_partials<C, Formula::column_join(K)>(
          column[K], p.partials + K * p.partials_stride, block, scratch);
      write_blocks<K + 1>(block);
    }
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
      if (threadIdx.x == 0) init_row_sums<C>(reduction);
      cluster_arrive();
      cluster_wait();
    }
    for (int block = blockIdx.x / kCtas; block < p.split.blocks; block += gridDim.x / kCtas) {
#pragma unroll
      for (int k = 0; k < kColumnSums; ++k) {
#pragma unroll
        for (int v = 0; v < kOctets; ++v) {
#pragma unroll
          for (int i = 0; i < kVector; ++i) column[k][v][i] = identity(Formula::column_join(k));
        }
      }
      run_block(block);
      write_blocks<0>(block);
    }
    if constexpr (kColumnSums > 0) {
      grid_barrier(p.barrier);
      Formula::template finish<kGeometry.threads>(p, kGeometry.n, scratch);
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
