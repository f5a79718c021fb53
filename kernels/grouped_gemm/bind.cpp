// Checking run-time arguments and packing the launches of both routes. Pure: pointers are compared,
// never followed, and the offsets are never read.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/grouped_gemm/op.hpp"
#include "kernels/grouped_gemm/parameters.hpp"
#include "kernels/grouped_gemm/portable_layout.hpp"
#include "kernels/tensor_checks.hpp"

namespace kiln::grouped_gemm {
namespace {

struct Bound {
  const Tensor *a, *b, *out, *offs;
  std::int64_t rows;    // of all groups, or more
  std::int64_t groups;  // E
};

// E offsets, or E + 1 with a leading zero; wgrad's E is dw's, the others' is w's.
void check_offsets(const TensorChecks& checks, Bound& b, const Tensor& per_group) {
  b.offs = checks.required("offs");
  checks.rank(*b.offs, 1);
  checks.rank(per_group, 3);
  b.groups = per_group.shape[0];
  if (b.groups < 1 || b.groups > kMaxGroups)
    checks.fail(per_group, fmt::format("has {} groups; 1 to {} are served", b.groups, kMaxGroups));
  const std::int64_t count = b.offs->shape[0];
  if (count != b.groups && count != b.groups + 1) {
    checks.fail(*b.offs,
                fmt::format("has {} elements; {} groups need {}, or {} with a leading zero",
                            count,
                            b.groups,
                            b.groups,
                            b.groups + 1));
  }
  checks.vector(*b.offs, DType::i32, count);
}

std::string_view names_of(Op op) {
  switch (op) {
    case Op::forward:
      return "x, w, offs, y";
    case Op::dgrad:
      return "g, w, offs, dx";
    case Op::wgrad:
      return "g, x, offs, dw";
  }
  return {};
}

Bound check(const GroupedGemm& gemm, const Arguments& arguments) {
  const TensorChecks checks(gemm.name(), arguments, names_of(gemm.op));
  Bound b{};
  b.a = checks.required(gemm.a_name());
  checks.rank(*b.a, 2);
  b.rows = b.a->shape[0];
  if (b.rows < 0 || b.rows > kMaxRows)
    checks.fail(*b.a, fmt::format("has {} rows; 0 to {} are served", b.rows, kMaxRows));
  checks.matrix(*b.a, DType::bf16, b.rows, gemm.a_columns());
  checks.aligned(*b.a, 16);
  b.b = checks.required(gemm.b_name());
  b.out = checks.required(gemm.out_name());
  if (gemm.op == Op::wgrad) {
    checks.matrix(*b.b, DType::bf16, b.rows, gemm.k);
    check_offsets(checks, b, *b.out);
    checks.matrices(*b.out, gemm.out, b.groups, gemm.n, gemm.k);
    if (b.groups > 1 && b.out->strides[0] != gemm.n * b.out->strides[1]) {
      checks.fail(*b.out,
                  fmt::format("has group stride {}; {} rows of stride {} make it {}",
                              b.out->strides[0],
                              gemm.n,
                              b.out->strides[1],
                              gemm.n * b.out->strides[1]));
    }
    if (b.groups * gemm.n > kMaxRows)
      checks.fail(
          *b.out,
          fmt::format("has {} rows in all; at most {} are served", b.groups * gemm.n, kMaxRows));
  } else {
    check_offsets(checks, b, *b.b);
    checks.matrices(*b.b, DType::bf16, b.groups, gemm.n, gemm.k);
    checks.matrix(*b.out, gemm.out, b.rows, gemm.out_columns());
  }
  checks.aligned(*b.b, 16);
  const std::array outputs{b.out};
  const std::array inputs{b.a, b.b, b.offs};
  checks.no_overlap(outputs, inputs);
  return b;
}

std::int64_t row_stride(const Tensor& t) { return t.strides[static_cast<std::size_t>(t.rank - 2)]; }

// Strides of dimensions with one element mean nothing and may be anything.
std::uint64_t stride_bytes(const Tensor& t, int dimension, std::int64_t dense) {
  const auto at = static_cast<std::size_t>(dimension);
  return static_cast<std::uint64_t>((t.shape[at] > 1 ? t.strides[at] : dense) * size_bytes(t.type));
}

bool rows_on_16_bytes(const Tensor& t) {
  const std::int64_t rows = t.rank == 3 ? t.shape[0] * t.shape[1] : t.shape[0];
  return reinterpret_cast<std::uintptr_t>(t.data) % 16 == 0 &&
         (rows <= 1 || row_stride(t) * size_bytes(t.type) % 16 == 0);
}

// The last two dimensions as boxes; a map must have rows and an address even where nothing is read.
TensorMapRequest matrix_map(std::size_t offset,
                            const Tensor& t,
                            std::int64_t rows,
                            std::array<std::uint32_t, 3> box,
                            const void* instead) {
  const std::int64_t columns = t.shape[static_cast<std::size_t>(t.rank - 1)];
  return {.offset = offset,
          .data = rows > 0 ? t.data : instead,
          .type = t.type,
          .rank = 2,
          .shape = {static_cast<std::uint64_t>(columns),
                    static_cast<std::uint64_t>(std::max<std::int64_t>(rows, 1)),
                    1},
          .strides = {stride_bytes(t, t.rank - 2, columns), 0},
          .box = box};
}

void bind_fused(const Plan& plan,
                const GroupedGemm& gemm,
                const Bound& b,
                const LaunchContext& context,
                CallList& calls) {
  const std::int64_t mean = b.rows / b.groups;
  std::size_t index = 0;
  while (index + 1 < plan.stages.size() && mean < plan.stages[index].constant("from_mean_rows"))
    ++index;
  const StagePlan& stage = plan.stages[index];
  HopperParameters p{};
  const bool leading_zero = b.offs->shape[0] == b.groups + 1;
  p.ends = static_cast<const int*>(b.offs->data) + (leading_zero ? 1 : 0);
  p.output = b.out->data;
  p.counters = static_cast<unsigned long long*>(context.counters);
  p.output_stride = row_stride(*b.out);
  p.rows = b.rows;
  p.groups = static_cast<int>(b.groups);
  p.aligned = rows_on_16_bytes(*b.out) ? 1 : 0;

  KernelCall& call = calls.add();
  call.stage = static_cast<int>(index);
  const int cluster = stage.cluster_ctas;
  int clusters = context.sm_count / cluster;
  if (cluster > 1) clusters = std::min(clusters, context.clusters[index]);
  clusters = std::max(1, clusters);
  call.grid = {static_cast<unsigned>(clusters * cluster), 1, 1};
  call.cluster_ctas = static_cast<unsigned>(cluster);
  call.threads = static_cast<unsigned>(stage.threads);
  call.smem_bytes = stage.smem_bytes;
  call.set_parameters(p);

  const auto depth = static_cast<std::uint32_t>(stage.constant("tile_depth"));
  const std::uint32_t unit = kUnit;
  const bool wgrad = gemm.op == Op::wgrad;
  const std::array<std::uint32_t, 3> along_rows{unit, wgrad ? depth : unit, 1};
  call.tensor_map_count = 3;
  call.tensor_maps[0] =
      matrix_map(offsetof(HopperParameters, a), *b.a, b.rows, along_rows, context.counters);
  if (wgrad) {
    call.tensor_maps[1] =
        matrix_map(offsetof(HopperParameters, b), *b.b, b.rows, along_rows, context.counters);
  } else {
    const std::int64_t row = gemm.k, matrix = gemm.n * row_stride(*b.b);
    call.tensor_maps[1] = {
        .offset = offsetof(HopperParameters, b),
        .data = b.b->data,
        .type = DType::bf16,
        .rank = 3,
        .shape = {static_cast<std::uint64_t>(gemm.k),
                  static_cast<std::uint64_t>(gemm.n),
                  static_cast<std::uint64_t>(b.groups)},
        .strides = {stride_bytes(*b.b, 1, row), stride_bytes(*b.b, 0, gemm.n > 1 ? matrix : row)},
        .box = {unit, unit, 1}};
  }
  // Where the engine cannot write, nothing goes through this map: it shows a's memory instead.
  const Tensor& shown = p.aligned != 0 ? *b.out : *b.a;
  const std::int64_t shown_rows = p.aligned == 0 ? b.rows : wgrad ? b.groups * gemm.n : b.rows;
  call.tensor_maps[2] =
      matrix_map(offsetof(HopperParameters, out),
                 shown,
                 shown_rows,
                 {static_cast<std::uint32_t>(128 / size_bytes(shown.type)), kSlabRows, 1},
                 context.counters);
}

void bind_portable(const GroupedGemm& gemm,
                   const Bound& b,
                   const LaunchContext& context,
                   CallList& calls) {
  PortableParameters p{};
  const bool leading_zero = b.offs->shape[0] == b.groups + 1;
  p.a = b.a->data;
  p.b = b.b->data;
  p.output = b.out->data;
  p.ends = static_cast<const int*>(b.offs->data) + (leading_zero ? 1 : 0);
  p.rows = b.rows;
  p.n = gemm.n;
  p.k = gemm.k;
  p.a_stride = b.a->strides[0];
  p.b_stride = row_stride(*b.b);
  p.output_stride = row_stride(*b.out);
  p.w_group_stride = gemm.op == Op::wgrad ? 0 : b.b->strides[0];
  p.output_group_stride = gemm.op == Op::wgrad ? b.out->strides[0] : 0;
  p.groups = static_cast<int>(b.groups);
  p.accumulate = gemm.accumulate ? 1 : 0;
  p.output_vector = rows_on_16_bytes(*b.out) ? 1 : 0;
  const std::int64_t out_rows = gemm.op == Op::wgrad ? b.groups * ceil_div(gemm.n, kPortableTile)
                                                     : ceil_div(b.rows, kPortableTile) + b.groups;
  const std::int64_t items = out_rows * ceil_div(gemm.out_columns(), kPortableTile);
  const std::int64_t resident =
      std::int64_t{std::max(1, context.sm_count)} * std::max(1, context.ctas_per_sm[0]);
  KernelCall& call = calls.add();
  call.stage = 0;
  call.grid = {static_cast<unsigned>(std::min(items, resident)), 1, 1};
  call.threads = kPortableThreads;
  call.smem_bytes = kPortableSmemBytes;
  call.set_parameters(p);
}

}  // namespace

void bind(const Plan& plan,
          const Arguments& arguments,
          const LaunchContext& context,
          CallList& calls) {
  const GroupedGemm gemm = GroupedGemm::from(plan.signature);
  const Bound bound = check(gemm, arguments);
  calls.count = 0;
  if (bound.rows == 0 && gemm.op != Op::wgrad) return;  // no output
  if (plan.route == Route::fused) {
    bind_fused(plan, gemm, bound, context, calls);
  } else {
    bind_portable(gemm, bound, context, calls);
  }
}

}  // namespace kiln::grouped_gemm
