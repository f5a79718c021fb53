// Checking run-time arguments. Pure: pointers are compared, never followed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/bound.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/registry.hpp"
#include "kernels/tensor_checks.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr std::int64_t kMaxRows = (std::int64_t{1} << 31) - 1;

Join join_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return Join::sum;
    case Reduction::min:
      return Join::min;
    case Reduction::max:
      return Join::max;
    case Reduction::absmax:
      return Join::absmax;
  }
  return Join::sum;
}

// Walks the tensors that the signature has, so that re-binding allocates nothing and looks no key
// up.
class Binder {
 public:
  Binder(const Description& description,
         const Program& program,
         const Signature& signature,
         const Arguments& arguments)
      : d_(description),
        program_(program),
        signature_(signature),
        arguments_(arguments),
        checks_(description.op, arguments, description.names),
        n_(signature.integer("n")) {}

  Bound run() {
    count_rows();
    std::array<const Tensor*, kMaxTensors> inputs{}, outputs{};
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      const Tensor* given = tensor(program_.inputs[i]);
      switch (program_.inputs[i].extent) {
        case Extent::matrix:
          bound_.matrices.add(given);
          break;
        case Extent::row:
          bound_.row_vectors.add(given);
          break;
        case Extent::column:
          bound_.column_vectors.add(given);
          break;
        case Extent::scalar:
          bound_.scalars.add(given);
          continue;  // in no memory that an output could share
      }
      inputs[i] = given;
    }
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      outputs[i] = tensor(program_.outputs[i].tensor);
      output(program_.outputs[i], outputs[i]);
    }
    if (static_cast<std::size_t>(arguments_.count) !=
        program_.inputs.size() + program_.outputs.size())
      refuse_absent();
    checks_.no_overlap(std::span(outputs).first(program_.outputs.size()),
                       std::span(inputs).first(program_.inputs.size()));
    return bound_;
  }

 private:
  void output(const Output& described, const Tensor* given) {
    switch (described.tensor.extent) {
      case Extent::matrix:
        return bound_.outputs.add(given);
      case Extent::column:
        return bound_.column_outputs.add(given);
      case Extent::row:
      case Extent::scalar:
        break;
    }
    bound_.accumulate[bound_.column_sums.count] = described.tensor.accumulate;
    bound_.joins[bound_.column_sums.count] =
        join_of(program_.column_sums[static_cast<std::size_t>(described.column_sum)].reduction);
    bound_.column_sums.add(given);
  }

  // Tensors that the description has and the signature has not may be given as null.
  void refuse_absent() const {
    for (const auto* tensors : {&d_.inputs, &d_.outputs}) {
      for (const TensorDescription& t : *tensors) {
        if (t.given.empty() || arguments_.find(t.name) == nullptr) continue;
        const std::string_view value = signature_.value(t.given);
        if (value != "none" && value != "0") continue;
        static_cast<void>(
            checks_.absent(t.name, fmt::format("the signature says {}={}", t.given, value)));
      }
    }
  }

  // The first matrix says how many rows there are.
  void count_rows() {
    for (const ProgramTensor& t : program_.inputs) {
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

  const Tensor* tensor(const ProgramTensor& t) const {
    const Tensor* given = checks_.required(t.name);
    if (t.extent == Extent::scalar) {
      checks_.scalar(*given);
    } else if (t.extent == Extent::matrix) {
      checks_.matrix(*given, t.type, bound_.rows, n_);
    } else {
      checks_.vector(*given, t.type, t.extent == Extent::row ? n_ : bound_.rows);
    }
    return given;
  }

  const Description& d_;
  const Program& program_;
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

}  // namespace

void bind(const Plan& plan,
          const Arguments& arguments,
          const LaunchContext& context,
          CallList& calls) {
  const std::shared_ptr<const Variant> variant = variant_of(plan.signature);
  const Bound bound =
      Binder(description_of(plan.signature.op), variant->program, plan.signature, arguments).run();
  check_workspace(plan, context);
  calls.count = 0;
  if (bound.rows == 0 && bound.column_sums.count == 0) return;
  const std::int64_t n = plan.signature.integer("n");
  if (plan.route == Route::fused && (plan.otherwise.empty() || all_vectors(bound))) {
    pack_fused(plan, n, bound, context, calls);
  } else {
    pack_composed(plan, n, bound, context, calls);
  }
}

}  // namespace kiln::mix_order_reduction
