// rms_norm_backward as its signature states it, and the pure functions of the family that live in
// other files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/family.hpp"

namespace kiln::mix_order_reduction {

inline constexpr std::string_view kOp = "rms_norm_backward";
// Widest row one CTA holds.
inline constexpr std::int64_t kMaxCtaColumns = 16384;
// Widest row a cluster of two CTAs holds; above it the composed route serves.
inline constexpr std::int64_t kMaxFusedColumns = 2 * kMaxCtaColumns;

struct RmsNormOp {
  std::int64_t n = 0;
  DType x = DType::bf16;  // dy, x, residual, dx
  DType w = DType::bf16;
  DType dw = DType::bf16;
  bool has_weight = true;  // without a weight there is no dw
  bool accumulate = false;
  bool residual = false;

  [[nodiscard]] static RmsNormOp from(const Signature& signature);
  [[nodiscard]] std::string_view w_text() const { return has_weight ? to_string(w) : "none"; }
  [[nodiscard]] std::string_view dw_text() const { return has_weight ? to_string(dw) : "none"; }
};

PlanResult plan(const Signature& signature, const DeviceLimits& limits, const Policy& policy);
Plan compose(const Signature& signature, const DeviceLimits& limits, const Fallback& fallback);
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
