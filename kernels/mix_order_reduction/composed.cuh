// Bodies of the composed kernels, for any formula. Sums follow order.hpp, by the expressions of the
// fused kernel.
//   rows: matrix and column outputs, one CTA a row.   columns: partial column sums, one thread a
//   column of a block.   blocks: the same for sums that need a row's values, one CTA a block.
//   finish: the column outputs.
// Matrices are written with =; column sums with =, or += where they accumulate. Loops stay rolled:
// with every type an argument, unrolled ones took minutes to compile, and spilled.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/columns.cuh"
#include "kernels/mix_order_reduction/functions.cuh"
#include "kernels/mix_order_reduction/joins.cuh"

namespace kiln::mix_order_reduction {

inline float load_element(const void* base, i64 index, ElementType type) {
  if (type == ElementType::f32) return static_cast<const float*>(base)[index];
  const u16 bits = static_cast<const u16*>(base)[index];
  return type == ElementType::bf16 ? bf16::load(bits) : f16::load(bits);
}
inline void store_element(void* base, i64 index, ElementType type, float value) {
  if (type == ElementType::f32) {
    static_cast<float*>(base)[index] = value;
  } else {
    static_cast<u16*>(base)[index] =
        type == ElementType::bf16 ? bf16::round(value) : f16::round(value);
  }
}
inline float composed_matrix(const ReductionParameters& p, int i, i64 row, i64 column) {
  return load_element(p.inputs[i].base, row * p.inputs[i].stride + column, p.input_types[i]);
}
inline float composed_vector(const ReductionParameters& p, int i, i64 column) {
  return load_element(p.row_vectors[i], column, p.row_vector_types[i]);
}

// The operands of one element beside its row's values.
template <class F>
struct ComposedElement {
  float m[F::matrices], v[F::row_vectors];
  ComposedElement(const ReductionParameters& p, i64 row, i64 column) {
    F::load(p, row, column, m, v);
  }
};

// The sums of virtual lane `lane`: its columns in ascending order, panel after panel.
template <class F, int Pass>
inline void composed_lane_sums(
    const ReductionParameters& p, i64 row, int lane, const float* c, float (&sum)[F::row_sums]) {
#pragma unroll
  for (int k = 0; k < F::row_sums; ++k) sum[k] = identity(F::join(Pass));
#pragma unroll 1
  for (i64 first = static_cast<i64>(lane) * kVector; first < p.n;
       first += static_cast<i64>(kMaxLanes) * kVector) {
#pragma unroll 1
    for (i64 column = first; column < first + kVector && column < p.n; ++column) {
      const ComposedElement<F> e(p, row, column);
      F::template reduce<Pass>(e.m, e.v, c, p.scalars, p.inverse_n, sum);
    }
  }
}

// The row's values after each pass, from `Pass` on. Every thread of the CTA calls this.
template <class F, int Pass>
inline void composed_passes(const ReductionParameters& p,
                            i64 row,
                            float* c,
                            float (&lane_sum)[F::row_sums][kMaxLanes]) {
  if constexpr (Pass < F::passes) {
#pragma unroll 1
    for (int lane = threadIdx.x; lane < p.lanes; lane += 256) {
      float sum[F::row_sums];
      composed_lane_sums<F, Pass>(p, row, lane, c, sum);
#pragma unroll
      for (int k = 0; k < F::row_sums; ++k) lane_sum[k][lane] = sum[k];
    }
#pragma unroll 1
    for (int step = 1; step < p.lanes; step *= 2) {
      __syncthreads();
#pragma unroll 1
      for (int lane = threadIdx.x * 2 * step; lane < p.lanes; lane += 256 * 2 * step) {
#pragma unroll
        for (int k = 0; k < F::row_sums; ++k) {
          lane_sum[k][lane] = joined(F::join(Pass), lane_sum[k][lane], lane_sum[k][lane + step]);
        }
      }
    }
    __syncthreads();
    float sum[F::row_sums];
#pragma unroll
    for (int k = 0; k < F::row_sums; ++k) sum[k] = lane_sum[k][0];
    __syncthreads();
    F::template know<Pass + 1>(sum, p.scalars, p.inverse_n, c);
    composed_passes<F, Pass + 1>(p, row, c, lane_sum);
  }
}

template <class F>
inline void composed_rows(const ReductionParameters& p) {
  __shared__ float lane_sum[F::row_sums][kMaxLanes];
#pragma unroll 1
  for (i64 row = blockIdx.x; row < p.rows; row += gridDim.x) {
    float c[F::row_values];
    F::load_row(p, row, c);
    F::template know<0>(nullptr, p.scalars, p.inverse_n, c);
    composed_passes<F, 0>(p, row, c, lane_sum);
    if (threadIdx.x == 0) F::write_row(p, row, c);
#pragma unroll 1
    for (i64 column = threadIdx.x; column < p.n; column += 256) {
      const ComposedElement<F> e(p, row, column);
      float value[F::outputs];
      F::output(e.m, e.v, c, p.scalars, p.inverse_n, value);
      F::write(p, row, column, value);
    }
  }
}

// Floats between two rows of these kernels' partial sums, which lie in the order of the columns: at
// most partial_stride.
inline i64 composed_stride(i64 n) { return ceil_div(n, kVector) * kVector; }

// Blocks of rows in y.
template <class F>
inline void composed_columns(const ReductionParameters& p) {
  const i64 column = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (column >= p.n) return;
#pragma unroll 1
  for (int block = blockIdx.y; block < p.split.blocks; block += gridDim.y) {
    const i64 count = block_rows(p.split, tile_rows(p.n), block);
    float sum[F::column_sums];
#pragma unroll
    for (int k = 0; k < F::column_sums; ++k) sum[k] = identity(F::column_join(k));
#pragma unroll 1
    for (int chain = 0; chain < p.chains; ++chain) {
      float chain_sum[F::column_sums];
#pragma unroll
      for (int k = 0; k < F::column_sums; ++k) chain_sum[k] = identity(F::column_join(k));
#pragma unroll 1
      for (i64 i = chain; i < count; i += p.chains) {
        const i64 row = block_row(p.split, tile_rows(p.n), block, i);
        float c[F::row_values];
        F::load_row(p, row, c);
        F::template know<0>(nullptr, p.scalars, p.inverse_n, c);
        const ComposedElement<F> e(p, row, column);
        F::add_columns(e.m, e.v, c, p.scalars, p.inverse_n, chain_sum);
      }
#pragma unroll
      for (int k = 0; k < F::column_sums; ++k)
        sum[k] = joined(F::column_join(k), sum[k], chain_sum[k]);
    }
#pragma unroll
    for (int k = 0; k < F::column_sums; ++k)
      p.partials[k * p.partials_stride + block * composed_stride(p.n) + column] = sum[k];
  }
}

// Chains in turn, so that a thread's running sums of its columns are all that is kept: of the
// block in `partials`, of the chain in the scratch that follows them.
template <class F>
inline void composed_blocks(const ReductionParameters& p) {
  __shared__ float lane_sum[F::row_sums][kMaxLanes];
  const i64 stride = composed_stride(p.n);
#pragma unroll 1
  for (int block = blockIdx.x; block < p.split.blocks; block += gridDim.x) {
    const i64 count = block_rows(p.split, tile_rows(p.n), block);
    const auto at = [&](int k, i64 column) -> float& {
      return p.partials[k * p.partials_stride + block * stride + column];
    };
    const auto chain_at = [&](int k, i64 column) -> float& {
      return p.chain_sums[(static_cast<i64>(block) * F::column_sums + k) * stride + column];
    };
#pragma unroll 1
    for (int chain = 0; chain < p.chains; ++chain) {
#pragma unroll 1
      for (i64 column = threadIdx.x; column < p.n; column += 256) {
#pragma unroll
        for (int k = 0; k < F::column_sums; ++k) {
          if (chain == 0) at(k, column) = identity(F::column_join(k));
          chain_at(k, column) = identity(F::column_join(k));
        }
      }
#pragma unroll 1
      for (i64 i = chain; i < count; i += p.chains) {
        const i64 row = block_row(p.split, tile_rows(p.n), block, i);
        float c[F::row_values];
        F::load_row(p, row, c);
        F::template know<0>(nullptr, p.scalars, p.inverse_n, c);
        composed_passes<F, 0>(p, row, c, lane_sum);
#pragma unroll 1
        for (i64 column = threadIdx.x; column < p.n; column += 256) {
          const ComposedElement<F> e(p, row, column);
          float sum[F::column_sums];
#pragma unroll
          for (int k = 0; k < F::column_sums; ++k) sum[k] = chain_at(k, column);
          F::add_columns(e.m, e.v, c, p.scalars, p.inverse_n, sum);
#pragma unroll
          for (int k = 0; k < F::column_sums; ++k) chain_at(k, column) = sum[k];
        }
      }
#pragma unroll 1
      for (i64 column = threadIdx.x; column < p.n; column += 256) {
#pragma unroll
        for (int k = 0; k < F::column_sums; ++k)
          at(k, column) = joined(F::column_join(k), at(k, column), chain_at(k, column));
      }
    }
  }
}

template <Join J>
inline float composed_total(const float* partials, i64 stride, int row_blocks, i64 column) {
  float sum = identity(J);
#pragma unroll 1
  for (int group = 0; group * kBlockGroup < row_blocks; ++group)
    sum = joined(J, sum, sum_block_group<J, 1>(partials, stride, row_blocks, group, column).at[0]);
  return sum;
}

// Column sum blockIdx.y.
inline void composed_finish(const ReductionParameters& p) {
  const i64 column = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;
  if (column >= p.n) return;
  const int k = blockIdx.y;
  const Join join = p.column_joins[k];
  const auto total = [&](auto of) {
    return of(p.partials + k * p.partials_stride, composed_stride(p.n), p.split.blocks, column);
  };
  float sum = 0.0f;
  if (join == Join::sum) sum = total(composed_total<Join::sum>);
  if (join == Join::min) sum = total(composed_total<Join::min>);
  if (join == Join::max) sum = total(composed_total<Join::max>);
  if (join == Join::absmax) sum = total(composed_total<Join::absmax>);
  // dw = sum, or dw += sum, where the sum is first rounded to dw's type: the bits of dw.add_(sum).
  const ElementType type = p.column_sum_types[k];
  if (p.accumulate[k]) {
    const float before = load_element(p.column_sums[k], column, type);
    store_element(p.column_sums[k], column, type, sum);
    sum = __fadd_rn(before, load_element(p.column_sums[k], column, type));
  }
  store_element(p.column_sums[k], column, type, sum);
}

}  // namespace kiln::mix_order_reduction
