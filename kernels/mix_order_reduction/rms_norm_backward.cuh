// RMSNorm backward in one launch.
//   xh = x * rstd    g = dy * w    mean = sum_n(g * xh) / n
//   dx = rstd * (g - xh * mean) [+ residual]    dw = sum_rows(dy * xh)
// A CTA, or a cluster of CTAs for wide rows, owns whole row blocks, one after another; a thread
// owns the same columns of every row of its group. Sums follow order.hpp. dx is written with =; dw
// with =, or += (the sum rounded first to dw's type) when accumulate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/columns.cuh"
#include "kernels/mix_order_reduction/parameters.hpp"
#include "kernels/mix_order_reduction/row_sum.cuh"
#include "kernels/mix_order_reduction/stages.cuh"
#include "templates/grid_barrier.cuh"

namespace kiln::mix_order_reduction {

// The two expressions of an element, shared by the fused and the composed kernels. Products are
// rounded: no contraction.
template <class W>
struct RmsNormElement {
  float xh, g, dy;
  RmsNormElement(float x, float dy_value, float w, float rstd) : dy(dy_value) {
    xh = __fmul_rn(x, rstd);
    g = same_type<W, none> ? dy_value : __fmul_rn(dy_value, w);
  }
  float add_to_row(float sum) const { return __fmaf_rn(g, xh, sum); }
  float add_to_column(float sum) const { return __fmaf_rn(dy, xh, sum); }
  float dx(float mean, float rstd) const { return __fmul_rn(__fmaf_rn(-xh, mean, g), rstd); }
};

template <class C>
struct RmsNormBackward {
  using X = typename C::X;
  using W = typename C::W;
  using DW = typename C::DW;
  using Owned = Columns<C>;
  using BlockRows = Rows<C>;
  static constexpr Geometry kGeometry = C::geometry;
  static constexpr bool kHasWeight = !same_type<W, none>;
  static constexpr bool kHasColumns = !same_type<DW, none>;
  static constexpr int kRows = kGeometry.rows_per_step;
  static constexpr int kStages = kGeometry.stages;
  static constexpr int kOctets = Owned::kOctets;

  const RmsNormBackwardParameters& p;
  Stages<C, X> stages;
  float* reduction;  // in shared memory, after the stage buffers
  float* scratch;    // over the stage buffers, when they are drained
  Octet<W> weight[C::weight_in_registers ? kOctets : 1];
  float column[kHasColumns ? kOctets : 1][kVector];

  MatrixView input(int i) const {
    if (C::residual && i == 2) return {p.residual, p.residual_stride};
    return i == 0 ? MatrixView{p.x, p.x_stride} : MatrixView{p.dy, p.dy_stride};
  }
  void start_step(int step, int stage, const BlockRows& rows) const {
    stages.start(step, stage, rows, p.vector_access, [&](int i) { return input(i); });
  }

  Octet<W> weight_octet(int v) const {
    if constexpr (!kHasWeight) {
      return {};
    } else if constexpr (C::weight_in_registers) {
      return weight[v];
    } else {
      return load_vector_octet<C, W>(p.w, v, p.weight_vector_access);
    }
  }
  static RmsNormElement<W> element(
      const Octet<X>& x, const Octet<X>& dy, const Octet<W>& w, int i, float rstd) {
    if constexpr (kHasWeight) {
      return {x.get(i), dy.get(i), w.get(i), rstd};
    } else {
      return {x.get(i), dy.get(i), 1.0f, rstd};
    }
  }

  // One row's share of the row sum and the column sums.
  void reduce_octet(int v, const Octet<X>& x, const Octet<X>& dy, float rstd, float& row_sum) {
    const Octet<W> w = weight_octet(v);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      if (!Owned::kWhole && i >= Owned::count(v)) break;
      const auto e = element(x, dy, w, i, rstd);
      row_sum = e.add_to_row(row_sum);
      if constexpr (kHasColumns) column[v][i] = e.add_to_column(column[v][i]);
    }
  }

  void write_octet(int v,
                   i64 row,
                   const Octet<X>& x,
                   const Octet<X>& dy,
                   u32 residual_slot,
                   float rstd,
                   float mean) const {
    const Octet<W> w = weight_octet(v);
    Octet<X> residual;
    if constexpr (C::residual) residual = read_octet<C, X>(residual_slot, v);
    Octet<X> out;
#pragma unroll
    for (int i = 0; i < kVector; i += 2) {
      float value[2];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        value[j] = element(x, dy, w, i + j, rstd).dx(mean, rstd);
        if constexpr (C::residual) value[j] = __fadd_rn(value[j], residual.get(i + j));
      }
      out.set_pair(i, value[0], value[1]);
    }
    char* to = static_cast<char*>(p.dx) + row * p.dx_stride * X::kBytes;
    store_octet<C, X>(to, v, out, p.vector_access);
  }

  using Inputs = Octet<X>[C::keep_inputs ? kRows : 1][C::keep_inputs ? kOctets : 1];

  Octet<X> input_octet(const Inputs& kept, int stage, int r, int i, int v) const {
    if constexpr (C::keep_inputs) {
      return kept[r][v];
    } else {
      return read_octet<C, X>(stages.slot(stage, r, i), v);
    }
  }

  void keep(int stage, Inputs& x, Inputs& dy) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int v = 0; v < kOctets; ++v) {
        x[r][v] = read_octet<C, X>(stages.slot(stage, r, 0), v);
        dy[r][v] = read_octet<C, X>(stages.slot(stage, r, 1), v);
      }
    }
  }

  // One step: kRows rows of every group.
  void compute(int step,
               int stage,
               const BlockRows& rows,
               const Inputs& x,
               const Inputs& dy,
               const float (&rstd)[kRows]) {
    float lane_sum[kRows * Owned::kLanesPerThread] = {};
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (!rows.has(step, r)) continue;
#pragma unroll
      for (int v = 0; v < kOctets; ++v) {
        if (!Owned::owns(v)) continue;
        reduce_octet(v,
                     input_octet(x, stage, r, 0, v),
                     input_octet(dy, stage, r, 1, v),
                     rstd[r],
                     lane_sum[r * Owned::kLanesPerThread + v % Owned::kLanesPerThread]);
      }
    }
    float row_sum[kRows];
    row_sums<C>(lane_sum, row_sum, reduction, step & 1);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (!rows.has(step, r)) continue;
      const i64 row = rows.row(step, r);
      const float mean = __fmul_rn(row_sum[r], C::inverse_n);
#pragma unroll
      for (int v = 0; v < kOctets; ++v) {
        if (!Owned::owns(v)) continue;
        write_octet(v,
                    row,
                    input_octet(x, stage, r, 0, v),
                    input_octet(dy, stage, r, 1, v),
                    stages.slot(stage, r, 2),
                    rstd[r],
                    mean);
      }
    }
  }

  void load_rstd(int step, const BlockRows& rows, float (&rstd)[kRows]) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) rstd[r] = rows.has(step, r) ? p.rstd[rows.row(step, r)] : 0.0f;
  }

  void run_block(int block) {
    const BlockRows rows(p.split, block);
    const int steps = rows.steps();
    float rstd[kRows], next[kRows];
    load_rstd(0, rows, next);
    // Steps below 0 only fill the pipeline. Kept inputs leave their buffer at once, and it is
    // refilled while the rows are computed; else both passes read shared memory, and the buffer is
    // refilled after them.
    constexpr bool kRefillEarly = C::keep_inputs && !C::residual;
    Inputs x, dy;
    for (int s = -kStages, stage = 0; s < steps;
         ++s, stage = stage + 1 == kStages ? 0 : stage + 1) {
      if (s >= 0) {
        copy_async_wait<kStages - 1>();
        __syncwarp();
        if constexpr (C::keep_inputs) keep(stage, x, dy);
      }
      if constexpr (kRefillEarly) {
        __syncwarp();
        start_step(s + kStages, stage, rows);
      }
      if (s >= 0) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) rstd[r] = next[r];
        load_rstd(s + 1, rows, next);
        compute(s, stage, rows, x, dy, rstd);
      }
      if constexpr (!kRefillEarly) {
        __syncwarp();
        start_step(s + kStages, stage, rows);
      }
    }
    copy_async_wait<0>();
  }

  void run() {
    if constexpr (kHasWeight && C::weight_in_registers) {
#pragma unroll
      for (int v = 0; v < kOctets; ++v) {
        if (Owned::owns(v)) weight[v] = load_vector_octet<C, W>(p.w, v, p.weight_vector_access);
      }
    }
    constexpr int kCtas = kGeometry.cluster_ctas;
    if constexpr (kCtas > 1) {  // a neighbour's shared memory may be written only once it runs
      cluster_arrive();
      cluster_wait();
    }
    for (int block = blockIdx.x / kCtas; block < p.split.blocks; block += gridDim.x / kCtas) {
      if constexpr (kHasColumns) {
#pragma unroll
        for (int v = 0; v < kOctets; ++v) {
#pragma unroll
          for (int i = 0; i < kVector; ++i) column[v][i] = 0.0f;
        }
      }
      run_block(block);
      if constexpr (kHasColumns) write_partials<C>(column, p.partials, block, scratch);
    }
    if constexpr (kHasColumns) {
      grid_barrier(p.barrier);
      finish_columns<DW, kGeometry.threads>(
          p.partials, kGeometry.n, p.split.blocks, p.finish_shift, p.dw, C::accumulate, scratch);
    }
  }
};

template <class C>
inline void rms_norm_backward(const RmsNormBackwardParameters& p) {
  static_assert(smem_bytes(C::geometry) == C::smem_bytes,
                "the planner and the device code disagree on shared memory");
  extern __shared__ Chunk shared_memory[];
  char* base = reinterpret_cast<char*>(shared_memory);
  RmsNormBackward<C> kernel{
      p,
      {shared_address(base)},
      reinterpret_cast<float*>(base + smem_bytes(C::geometry) - reduction_bytes(C::geometry)),
      reinterpret_cast<float*>(base)};
  kernel.run();
}

}  // namespace kiln::mix_order_reduction
