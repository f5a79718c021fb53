// A family without device code: what it plans, emits and packs is easy to predict.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/family.hpp"
#include "src/service/composed_images.hpp"

namespace kiln::fakes {

// The composed kernel runs where y starts off 16 bytes.
inline constexpr int kTagOtherwise = 7;

// op "fake", keys n (above 1000: rejected) and tag (any number; not in the source, so not in the
// digest).
[[nodiscard]] Signature fake_signature(int n, int tag = 0);
[[nodiscard]] const Family& fake_family();
[[nodiscard]] const ComposedImage* fake_composed(std::string_view family,
                                                 const Arch& arch) noexcept;

inline constexpr std::string_view kComposedEntry = "fake_composed";
inline constexpr std::int64_t kWorkspaceBytes = 4096;

// What bind packs: tensors x and y, and the memory of the launch.
struct FakeParameters {
  void* x;
  void* y;
  std::int64_t rows;
  void* workspace;
  void* counters;
  int sm_count;
  int ctas_per_sm;
};

[[nodiscard]] Arguments fake_arguments(void* x, void* y, std::int64_t rows);

}  // namespace kiln::fakes
