// Packing the launches of both routes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/mix_order_reduction/bound.hpp"
#include "kernels/mix_order_reduction/layout.hpp"

namespace kiln::mix_order_reduction {
namespace {

bool vector_rows(const Tensor* t) {
  return t == nullptr || t->shape[0] == 0 ||
         (reinterpret_cast<std::uintptr_t>(t->data) % 16 == 0 &&
          (t->shape[0] == 1 || t->strides[0] * size_bytes(t->type) % 16 == 0));
}

bool vector_base(const Tensor* t) {
  return t == nullptr || reinterpret_cast<std::uintptr_t>(t->data) % 16 == 0;
}

bool vector_access(const Bound& b) {
  const auto all = [](std::span<const Tensor* const> tensors, bool (*aligned)(const Tensor*)) {
    return std::all_of(tensors.begin(), tensors.end(), aligned);
  };
  return all(b.matrices.all(), vector_rows) && all(b.outputs.all(), vector_rows);
}

bool row_vector_access(const Bound& b) {
  const auto vectors = b.row_vectors.all();
  return std::all_of(vectors.begin(), vectors.end(), vector_base);
}

ElementType element_type(DType type) {
  return type == DType::f32   ? ElementType::f32
         : type == DType::f16 ? ElementType::f16
                              : ElementType::bf16;
}

// What both routes take.
ReductionParameters parameters(const Bound& b, std::int64_t n, const LaunchContext& context) {
  ReductionParameters p{};
  for (std::size_t i = 0; i < b.matrices.count; ++i) {
    const Tensor& t = *b.matrices.tensors[i];
    p.inputs[i] = {t.data, t.strides[0], 0};
    p.input_types[i] = element_type(t.type);
  }
  for (std::size_t i = 0; i < b.row_vectors.count; ++i) {
    p.row_vectors[i] = b.row_vectors.tensors[i]->data;
    p.row_vector_types[i] = element_type(b.row_vectors.tensors[i]->type);
  }
  for (std::size_t i = 0; i < b.column_vectors.count; ++i)
    p.column_vectors[i] = static_cast<const float*>(b.column_vectors.tensors[i]->data);
  for (std::size_t i = 0; i < b.scalars.count; ++i)
    p.scalars[i] = static_cast<float>(b.scalars.tensors[i]->value);
  for (std::size_t i = 0; i < b.outputs.count; ++i) {
    const Tensor& t = *b.outputs.tensors[i];
    p.outputs[i] = {t.data, t.strides[0], 0};
    p.output_types[i] = element_type(t.type);
  }
  for (std::size_t i = 0; i < b.column_outputs.count; ++i)
    p.column_outputs[i] = static_cast<float*>(b.column_outputs.tensors[i]->data);
  for (std::size_t i = 0; i < b.column_sums.count; ++i) {
    p.column_sums[i] = b.column_sums.tensors[i]->data;
    p.column_sum_types[i] = element_type(b.column_sums.tensors[i]->type);
    p.column_joins[i] = b.joins[i];
    p.accumulate[i] = b.accumulate[i];
  }
  p.partials = static_cast<float*>(context.workspace);
  p.partials_stride = workspace_bytes(n) / 4;
  p.split = split_rows(b.rows, n);
  p.rows = b.rows;
  return p;
}

}  // namespace

bool all_vectors(const Bound& b) { return vector_access(b) && row_vector_access(b); }

// Only a launch with column sums waits across CTAs.
void pack_fused(const Plan& plan,
                std::int64_t n,
                const Bound& b,
                const LaunchContext& context,
                CallList& calls) {
  const StagePlan& stage = plan.stages[0];
  ReductionParameters p = parameters(b, n, context);
  p.barrier = static_cast<unsigned*>(context.counters);
  p.vector_access = vector_access(b);
  p.row_vector_access = row_vector_access(b);
  KernelCall& call = calls.add();
  call.stage = 0;
  // Not more CTAs an SM than planned, even where more would fit: row blocks come in multiples of
  // the planned number, and an uneven share costs up to a third (528 blocks on 396 CTAs).
  const int ctas = std::min(context.ctas_per_sm[0], stage.ctas_per_sm);
  int clusters = ctas * context.sm_count / stage.cluster_ctas;
  if (stage.cluster_ctas > 1) clusters = std::min(clusters, context.clusters[0]);
  clusters = std::max(1, clusters);
  // Without column sums rows may fall to blocks in any way.
  if (b.column_sums.count == 0) p.split = spread_rows(b.rows, n, clusters);
  // Where no chain has a second row nothing reads a pitch, and it may be beyond 64 bits.
  const std::int64_t chain_rows = static_cast<std::int64_t>(p.split.blocks) * tile_rows(n);
  if (b.rows > chain_rows) {
    for (std::size_t i = 0; i < b.matrices.count; ++i)
      p.inputs[i].pitch = chain_rows * p.inputs[i].stride * size_bytes(b.matrices.tensors[i]->type);
    for (std::size_t i = 0; i < b.outputs.count; ++i)
      p.outputs[i].pitch =
          chain_rows * p.outputs[i].stride * size_bytes(b.outputs.tensors[i]->type);
  }
  call.grid = {
      static_cast<unsigned>(std::min(p.split.blocks, clusters) * stage.cluster_ctas), 1, 1};
  call.cluster_ctas = static_cast<unsigned>(stage.cluster_ctas);
  p.finish_shift = finish_shift(
      n, p.split.blocks, static_cast<int>(call.grid[0]), static_cast<int>(b.column_sums.count));
  call.threads = static_cast<unsigned>(stage.threads);
  call.cooperative = b.column_sums.count > 0;
  call.smem_bytes = stage.smem_bytes;
  call.set_parameters(p);
}

void pack_composed(const Plan& plan,
                   std::int64_t n,
                   const Bound& b,
                   const LaunchContext& context,
                   CallList& calls) {
  ReductionParameters p = parameters(b, n, context);
  p.n = n;
  p.inverse_n = 1.0f / static_cast<float>(n);
  p.chains = chains(n);
  p.lanes = lanes(n);
  const auto sums = static_cast<std::int64_t>(b.column_sums.count);
  // There where a row block is one CTA's: plans ask for twice the workspace then.
  const bool block_ctas = plan.workspace_bytes > sums * workspace_bytes(n);
  if (block_ctas) p.chain_sums = p.partials + sums * p.partials_stride;
  auto stage = static_cast<int>(plan.route == Route::fused ? plan.stages.size() : 0);
  const auto add = [&](std::int64_t x, std::int64_t y) {
    KernelCall& call = calls.add();
    call.stage = stage++;
    call.grid = {static_cast<unsigned>(x), static_cast<unsigned>(y), 1};
    call.threads = 256;
    call.set_parameters(p);
  };
  if (b.outputs.count + b.column_outputs.count > 0) {
    if (b.rows > 0) {
      add(std::min<std::int64_t>(b.rows, std::max(1, context.sm_count) * 8), 1);
    } else {
      ++stage;
    }
  }
  if (sums == 0) return;
  if (block_ctas) {
    add(p.split.blocks, 1);
  } else {
    add(ceil_div(n, 256), p.split.blocks);
  }
  add(ceil_div(n, 256), sums);
}

}  // namespace kiln::mix_order_reduction
