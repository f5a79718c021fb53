// Checking run-time arguments and packing the launches of both routes. Pure: pointers are compared,
// never followed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/layout.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/parameters.hpp"
#include "kernels/tensor_checks.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr std::int64_t kMaxRows = (std::int64_t{1} << 31) - 1;

// Checked arguments: each tensor's place among those of its extent, null where the signature has
// none.
struct Bound {
  std::int64_t rows = 0;
  std::array<const Tensor*, kMaxMatrices> matrices{};
  std::array<const Tensor*, kMaxVectors> row_vectors{}, column_vectors{};
  std::array<const Tensor*, kMaxMatrixOutputs> outputs{};
  std::array<const Tensor*, kMaxVectors> column_sums{};
  int column_sum_count = 0;
  bool accumulate = false;
};

// Walks the description, so that re-binding allocates nothing.
class Binder {
 public:
  Binder(const Description& description, const Signature& signature, const Arguments& arguments)
      : d_(description),
        signature_(signature),
        arguments_(arguments),
        checks_(description.op, arguments, description.names),
        n_(signature.integer("n")) {}

  Bound run() {
    count_rows();
    std::array<const Tensor*, kMaxTensors> inputs{}, outputs{};
    Places in, out;
    for (std::size_t i = 0; i < d_.inputs.size(); ++i) {
      inputs[i] = tensor(d_.inputs[i]);
      switch (d_.inputs[i].extent) {
        case Extent::matrix:
          bound_.matrices[in.matrix++] = inputs[i];
          break;
        case Extent::row:
          bound_.row_vectors[in.row++] = inputs[i];
          break;
        case Extent::column:
          bound_.column_vectors[in.column++] = inputs[i];
          break;
        case Extent::scalar:
          break;
      }
    }
    for (std::size_t i = 0; i < d_.outputs.size(); ++i) {
      outputs[i] = tensor(d_.outputs[i]);
      if (d_.outputs[i].extent == Extent::matrix) {
        bound_.outputs[out.matrix++] = outputs[i];
      } else {
        bound_.column_sums[out.row++] = outputs[i];
        if (outputs[i] == nullptr) continue;
        ++bound_.column_sum_count;
        bound_.accumulate = has(d_.outputs[i].accumulate);
      }
    }
    checks_.no_overlap(std::span(outputs).first(d_.outputs.size()),
                       std::span(inputs).first(d_.inputs.size()));
    return bound_;
  }

 private:
  struct Places {
    std::size_t matrix = 0, row = 0, column = 0;
  };

  [[nodiscard]] bool has(std::string_view key) const {
    if (key.empty()) return false;
    const std::string_view value = signature_.value(key);
    return value != "none" && value != "0";
  }

  // The first matrix says how many rows there are.
  void count_rows() {
    for (const TensorDescription& t : d_.inputs) {
      if (t.extent != Extent::matrix) continue;
      const Tensor* first = checks_.required(t.name);
      checks_.rank(*first, 2);
      bound_.rows = first->shape[0];
      if (bound_.rows < 0 || bound_.rows > kMaxRows) {
        checks_.fail(*first, fmt::format("has {} rows; 0 to {} are served", bound_.rows, kMaxRows));
      }
      return;
    }
  }

  const Tensor* tensor(const TensorDescription& t) const {
    if (!t.given.empty() && !has(t.given)) {
      if (arguments_.find(t.name) == nullptr) return nullptr;
      return checks_.absent(
          t.name, fmt::format("the signature says {}={}", t.given, signature_.value(t.given)));
    }
    const Tensor* given = checks_.required(t.name);
    const std::optional<DType> fixed = parse_dtype(t.type);
    const DType type = fixed ? *fixed : *parse_dtype(signature_.value(t.type));
    if (t.extent == Extent::matrix) {
      checks_.matrix(*given, type, bound_.rows, n_);
    } else {
      checks_.vector(*given, type, t.extent == Extent::row ? n_ : bound_.rows);
    }
    return given;
  }

  const Description& d_;
  const Signature& signature_;
  const Arguments& arguments_;
  TensorChecks checks_;
  std::int64_t n_;
  Bound bound_;
};

void check_workspace(const Plan& plan, const LaunchContext& context) {
  if (plan.workspace_bytes == 0) return;
  if (context.workspace == nullptr || context.workspace_bytes < plan.workspace_bytes) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "{}: the workspace has {} bytes, {} are needed; Prepared::make_workspace makes one",
            plan.signature.op,
            context.workspace == nullptr ? 0 : context.workspace_bytes,
            plan.workspace_bytes));
  }
  if (reinterpret_cast<std::uintptr_t>(context.workspace) % 256 != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: the workspace must start on 256 bytes; it is at {}",
                            plan.signature.op,
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

// What both routes take; `close_ranks` skips absent matrices and row vectors.
ReductionParameters parameters(const Bound& b,
                               std::int64_t n,
                               const LaunchContext& context,
                               bool close_ranks) {
  ReductionParameters p{};
  std::size_t to = 0;
  for (const Tensor* t : b.matrices) {
    if (t != nullptr) p.inputs[to] = {t->data, t->strides[0]};
    if (t != nullptr || !close_ranks) ++to;
  }
  to = 0;
  for (const Tensor* t : b.row_vectors) {
    if (t != nullptr) p.row_vectors[to] = t->data;
    if (t != nullptr || !close_ranks) ++to;
  }
  for (std::size_t i = 0; i < b.column_vectors.size(); ++i) {
    if (b.column_vectors[i] != nullptr)
      p.column_vectors[i] = static_cast<const float*>(b.column_vectors[i]->data);
  }
  for (std::size_t i = 0; i < b.outputs.size(); ++i) {
    if (b.outputs[i] != nullptr) p.outputs[i] = {b.outputs[i]->data, b.outputs[i]->strides[0]};
  }
  to = 0;
  for (const Tensor* t : b.column_sums) {
    if (t != nullptr) p.column_sums[to++] = t->data;
  }
  p.partials = static_cast<float*>(context.workspace);
  p.partials_stride = workspace_bytes(n) / 4;
  p.split = split_rows(b.rows, n);
  p.rows = b.rows;
  return p;
}

// Only a launch with column sums waits across CTAs.
void bind_fused(const Plan& plan,
                std::int64_t n,
                const Bound& b,
                const LaunchContext& context,
                CallList& calls) {
  const StagePlan& stage = plan.stages[0];
  ReductionParameters p = parameters(b, n, context, true);
  p.barrier = static_cast<unsigned*>(context.counters);
  p.vector_access = std::all_of(b.matrices.begin(), b.matrices.end(), vector_rows) &&
                    std::all_of(b.outputs.begin(), b.outputs.end(), vector_rows);
  p.row_vector_access = std::all_of(b.row_vectors.begin(), b.row_vectors.end(), vector_base);
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
  p.finish_shift = finish_shift(n, p.split.blocks, static_cast<int>(call.grid[0]));
  call.threads = static_cast<unsigned>(stage.threads);
  call.cooperative = b.column_sum_count > 0;
  call.smem_bytes = stage.smem_bytes;
  call.set_parameters(p);
}

void bind_composed(std::int64_t n, const Bound& b, const LaunchContext& context, CallList& calls) {
  ReductionParameters p = parameters(b, n, context, false);
  p.n = n;
  p.inverse_n = 1.0f / static_cast<float>(n);
  p.chains = chains(n);
  p.lanes = lanes(n);
  p.accumulate = b.accumulate ? 1 : 0;
  const auto add = [&](int stage, std::int64_t x, int y) {
    KernelCall& call = calls.add();
    call.stage = stage;
    call.grid = {static_cast<unsigned>(x), static_cast<unsigned>(y), 1};
    call.threads = 256;
    call.set_parameters(p);
  };
  if (b.rows > 0) add(0, std::min<std::int64_t>(b.rows, std::max(1, context.sm_count) * 8), 1);
  if (b.column_sum_count > 0) {
    add(1, ceil_div(n, 256), p.split.blocks);
    add(2, ceil_div(n, 256), b.column_sum_count);
  }
}

}  // namespace

void bind(const Plan& plan,
          const Arguments& arguments,
          const LaunchContext& context,
          CallList& calls) {
  const Bound bound =
      Binder(builtin_description(plan.signature.op), plan.signature, arguments).run();
  check_workspace(plan, context);
  calls.count = 0;
  if (bound.rows == 0 && bound.column_sum_count == 0) return;
  const std::int64_t n = plan.signature.integer("n");
  if (plan.route == Route::fused) {
    bind_fused(plan, n, bound, context, calls);
  } else {
    bind_composed(n, bound, context, calls);
  }
}

}  // namespace kiln::mix_order_reduction
