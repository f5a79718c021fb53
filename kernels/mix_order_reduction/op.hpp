// An op as its signature states it, and the pure functions of the family that live in other files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/family.hpp"
#include "kernels/mix_order_reduction/program.hpp"
#include "kernels/mix_order_reduction/shape.hpp"
#include "kernels/mix_order_reduction/variants.hpp"

namespace kiln::mix_order_reduction {

// Widest row one CTA holds.
inline constexpr std::int64_t kMaxCtaColumns = 16384;
// Widest row a cluster holds; above it the composed route serves.
inline constexpr std::int64_t kMaxFusedColumns = 2 * kMaxCtaColumns;

struct Op {
  std::string name;
  std::int64_t n = 0;
  std::shared_ptr<const Variant> variant;
  const Program& program = variant->program;
  const Shape& shape = variant->shape;

  [[nodiscard]] static Op from(const Signature& signature);
};

// How signatures of an op are completed where its description does not say; null for others.
[[nodiscard]] void (*completion_of(std::string_view op))(Signature&);

PlanResult plan(const Signature& signature, const DeviceLimits& limits, const Policy& policy);
Plan compose(const Signature& signature, const DeviceLimits& limits, const Fallback& fallback);
std::vector<std::string> candidate_names(const Signature& signature, const DeviceLimits& limits);
Source emit(const Plan& plan, std::size_t stage);
void bind(const Plan& plan,
          const Arguments& arguments,
          const LaunchContext& context,
          CallList& calls);
Problem problem(const Signature& signature, std::int64_t rows);
std::vector<Expected> reference(const Signature& signature,
                                std::int64_t rows,
                                std::span<const HostTensor> inputs);
std::vector<Sample> samples();

}  // namespace kiln::mix_order_reduction
