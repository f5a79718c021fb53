// Checking run-time arguments and packing the launches of both routes. Pure: pointers are compared,
// never followed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/layout.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/parameters.hpp"
#include "kernels/tensor_checks.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr std::string_view kNames = "dy, x, rstd, w, residual, dx, dw";
constexpr std::int64_t kMaxRows = (std::int64_t{1} << 31) - 1;

// Checked arguments; absent ones are null.
struct Bound {
  const Tensor *dy, *x, *rstd, *w, *residual, *dx, *dw;
  std::int64_t rows;
};

Bound check(const RmsNormOp& op, const Arguments& arguments) {
  const TensorChecks checks(kOp, arguments, kNames);
  Bound b{};
  b.x = checks.required("x");
  checks.rank(*b.x, 2);
  b.rows = b.x->shape[0];
  if (b.rows < 0 || b.rows > kMaxRows)
    checks.fail(*b.x, fmt::format("has {} rows; 0 to {} are served", b.rows, kMaxRows));
  const auto matrix_of = [&](std::string_view name) {
    const Tensor* t = checks.required(name);
    checks.matrix(*t, op.x, b.rows, op.n);
    return t;
  };
  b.x = matrix_of("x");
  b.dy = matrix_of("dy");
  b.dx = matrix_of("dx");
  b.rstd = checks.required("rstd");
  checks.vector(*b.rstd, DType::f32, b.rows);
  b.residual = op.residual ? matrix_of("residual")
                           : checks.absent("residual", "the signature says residual=0");
  if (op.has_weight) {
    b.w = checks.required("w");
    checks.vector(*b.w, op.w, op.n);
    b.dw = checks.required("dw");
    checks.vector(*b.dw, op.dw, op.n);
  } else {
    b.w = checks.absent("w", "the signature says w=none");
    b.dw = checks.absent("dw", "the signature says w=none");
  }
  const std::array outputs{b.dx, b.dw};
  const std::array inputs{b.dy, b.x, b.rstd, b.w, b.residual};
  checks.no_overlap(outputs, inputs);
  return b;
}

void check_workspace(const Plan& plan, const LaunchContext& context) {
  if (plan.workspace_bytes == 0) return;
  if (context.workspace == nullptr || context.workspace_bytes < plan.workspace_bytes) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "{}: the workspace has {} bytes, {} are needed; Prepared::make_workspace makes one",
            kOp,
            context.workspace == nullptr ? 0 : context.workspace_bytes,
            plan.workspace_bytes));
  }
  if (reinterpret_cast<std::uintptr_t>(context.workspace) % 256 != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: the workspace must start on 256 bytes; it is at {}",
                            kOp,
                            fmt::ptr(context.workspace)));
  }
}

bool vector_rows(const Tensor* t) {
  return t == nullptr || t->shape[0] == 0 ||
         (reinterpret_cast<std::uintptr_t>(t->data) % 16 == 0 &&
          (t->shape[0] == 1 || t->strides[0] * size_bytes(t->type) % 16 == 0));
}

bool vector_base(const Tensor* t) {
  return t == nullptr || reinterpret_cast<std::uintptr_t>(t->data) % 16 == 0;
}

void* data(const Tensor* t) { return t == nullptr ? nullptr : t->data; }
std::int64_t stride(const Tensor* t) { return t == nullptr ? 0 : t->strides[0]; }

// Only a launch with column sums waits across CTAs.
void bind_fused(const Plan& plan,
                const RmsNormOp& op,
                const Bound& b,
                const LaunchContext& context,
                CallList& calls) {
  const StagePlan& stage = plan.stages[0];
  RmsNormBackwardParameters p{};
  p.dy = data(b.dy);
  p.x = data(b.x);
  p.rstd = static_cast<const float*>(data(b.rstd));
  p.w = data(b.w);
  p.residual = data(b.residual);
  p.dx = data(b.dx);
  p.dw = data(b.dw);
  p.partials = static_cast<float*>(context.workspace);
  p.barrier = static_cast<unsigned*>(context.counters);
  p.rows = b.rows;
  p.dy_stride = stride(b.dy);
  p.x_stride = stride(b.x);
  p.residual_stride = stride(b.residual);
  p.dx_stride = stride(b.dx);
  p.split = split_rows(b.rows, op.n);
  p.vector_access =
      vector_rows(b.dy) && vector_rows(b.x) && vector_rows(b.residual) && vector_rows(b.dx);
  p.weight_vector_access = vector_base(b.w);
  KernelCall& call = calls.add();
  call.stage = 0;
  // Not more CTAs an SM than planned, even where more would fit: row blocks come in multiples of
  // the planned number, and an uneven share costs up to a third (528 blocks on 396 CTAs).
  const int ctas = std::min(context.ctas_per_sm[0], stage.ctas_per_sm);
  int clusters = ctas * context.sm_count / stage.cluster_ctas;
  if (stage.cluster_ctas > 1) clusters = std::min(clusters, context.clusters[0]);
  clusters = std::max(1, clusters);
  call.grid = {
      static_cast<unsigned>(std::min(p.split.blocks, clusters) * stage.cluster_ctas), 1, 1};
  call.cluster_ctas = static_cast<unsigned>(stage.cluster_ctas);
  p.finish_shift = finish_shift(op.n, p.split.blocks, static_cast<int>(call.grid[0]));
  call.threads = static_cast<unsigned>(stage.threads);
  call.cooperative = op.has_weight;
  call.smem_bytes = stage.smem_bytes;
  call.set_parameters(p);
}

void bind_composed(const RmsNormOp& op,
                   const Bound& b,
                   const LaunchContext& context,
                   CallList& calls) {
  ComposedParameters p{};
  p.dy = data(b.dy);
  p.x = data(b.x);
  p.rstd = static_cast<const float*>(data(b.rstd));
  p.w = data(b.w);
  p.residual = data(b.residual);
  p.dx = data(b.dx);
  p.dw = data(b.dw);
  p.partials = static_cast<float*>(context.workspace);
  p.rows = b.rows;
  p.n = op.n;
  p.dy_stride = stride(b.dy);
  p.x_stride = stride(b.x);
  p.residual_stride = stride(b.residual);
  p.dx_stride = stride(b.dx);
  p.inverse_n = 1.0f / static_cast<float>(op.n);
  p.split = split_rows(b.rows, op.n);
  p.chains = chains(op.n);
  p.lanes = lanes(op.n);
  p.accumulate = op.accumulate ? 1 : 0;
  const auto add = [&](int stage, std::int64_t x, int y) {
    KernelCall& call = calls.add();
    call.stage = stage;
    call.grid = {static_cast<unsigned>(x), static_cast<unsigned>(y), 1};
    call.threads = 256;
    call.set_parameters(p);
  };
  if (b.rows > 0) add(0, std::min<std::int64_t>(b.rows, std::max(1, context.sm_count) * 8), 1);
  if (op.has_weight) {
    add(1, ceil_div(op.n, 256), p.split.blocks);
    add(2, ceil_div(op.n, 256), 1);
  }
}

}  // namespace

void bind(const Plan& plan,
          const Arguments& arguments,
          const LaunchContext& context,
          CallList& calls) {
  const RmsNormOp op = RmsNormOp::from(plan.signature);
  const Bound bound = check(op, arguments);
  check_workspace(plan, context);
  calls.count = 0;
  if (bound.rows == 0 && !op.has_weight) return;
  if (plan.route == Route::fused) {
    bind_fused(plan, op, bound, context, calls);
  } else {
    bind_composed(op, bound, context, calls);
  }
}

}  // namespace kiln::mix_order_reduction
