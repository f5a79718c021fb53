// Checked run-time arguments, and the launches that are packed from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/family.hpp"
#include "kernels/mix_order_reduction/parameters.hpp"

namespace kiln::mix_order_reduction {

// Checked arguments, those that the signature has, by extent in the description's order.
template <std::size_t Most>
struct List {
  std::array<const Tensor*, Most> tensors{};
  std::size_t count = 0;

  void add(const Tensor* tensor) {
    if (tensor != nullptr) tensors[count++] = tensor;
  }
  [[nodiscard]] std::span<const Tensor* const> all() const {
    return std::span(tensors).first(count);
  }
};
struct Bound {
  std::int64_t rows = 0;
  List<kMaxMatrices> matrices;
  List<kMaxVectors> row_vectors, column_vectors, scalars;
  List<kMaxMatrixOutputs> outputs;
  List<kMaxVectors> column_outputs, column_sums;
  std::array<bool, kMaxVectors> accumulate{};  // a column sum
  std::array<Join, kMaxVectors> joins{};
};

// Every row of every matrix, and every row vector, starts on 16 bytes.
bool all_vectors(const Bound& bound);

// Appends the launches of a plan's fused kernel, or of its composed ones.
void pack_fused(const Plan& plan,
                std::int64_t n,
                const Bound& bound,
                const LaunchContext& context,
                CallList& calls);
void pack_composed(const Plan& plan,
                   std::int64_t n,
                   const Bound& bound,
                   const LaunchContext& context,
                   CallList& calls);

}  // namespace kiln::mix_order_reduction
