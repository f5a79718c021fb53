// A grouped GEMM as its signature states it, and the pure functions of the family that live in
// other files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/family.hpp"
#include "kernels/grouped_gemm/layout.hpp"

namespace kiln::grouped_gemm {

inline constexpr std::string_view kForward = "grouped_gemm_forward";
inline constexpr std::string_view kDgrad = "grouped_gemm_dgrad";
inline constexpr std::string_view kWgrad = "grouped_gemm_wgrad";
inline constexpr std::int64_t kMaxGroups = 1024;
inline constexpr std::int64_t kMaxRows = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t kMaxWidth = 1 << 20;  // n and k

struct GroupedGemm {
  Op op = Op::forward;
  std::int64_t n = 0;
  std::int64_t k = 0;
  DType out = DType::bf16;
  bool accumulate = false;     // wgrad only
  std::int64_t mean_rows = 0;  // of a group, when the signature says so; else 0

  [[nodiscard]] static GroupedGemm from(const Signature& signature);
  [[nodiscard]] std::string_view name() const;
  // Names of the arguments: a, b and the output.
  [[nodiscard]] std::string_view a_name() const { return op == Op::forward ? "x" : "g"; }
  [[nodiscard]] std::string_view b_name() const { return op == Op::wgrad ? "x" : "w"; }
  [[nodiscard]] std::string_view out_name() const;
  [[nodiscard]] std::int64_t a_columns() const { return op == Op::forward ? k : n; }
  [[nodiscard]] std::int64_t out_columns() const { return op == Op::forward ? n : k; }
};

// A tile class: one compiled kernel, for groups of at least that many rows on average.
struct TileClass {
  std::int64_t from_mean_rows = 0;
  Geometry geometry;
  std::string why;
};
// Most rows first; the last one serves any.
[[nodiscard]] std::vector<TileClass> tile_classes(const GroupedGemm& gemm);
// Tiles, clusters, bands and ways to add that could serve any number of rows, by name.
[[nodiscard]] std::vector<std::string> candidate_names(const GroupedGemm& gemm);
// Throws Error{internal} for a name that is not among them.
[[nodiscard]] TileClass tile_class_named(const GroupedGemm& gemm, std::string_view name);
std::vector<std::string> candidates(const Signature& signature, const DeviceLimits& limits);

PlanResult plan(const Signature& signature, const DeviceLimits& limits, const Policy& policy);
Plan compose(const Signature& signature, const DeviceLimits& limits, const Fallback& fallback);
Source emit(const Plan& plan, std::size_t stage);
void bind(const Plan& plan,
          const Arguments& arguments,
          const LaunchContext& context,
          CallList& calls);
Problem problem(const Signature& signature, std::int64_t rows);
Problem grouped_problem(const Signature& signature,
                        std::int64_t rows,
                        std::span<const std::int64_t> sizes);
std::vector<Expected> reference(const Signature& signature,
                                std::int64_t rows,
                                std::span<const HostTensor> inputs);
std::vector<Sample> samples();

}  // namespace kiln::grouped_gemm
