// One problem with fresh random data on the host: inputs as stored, and the reference, made once
// for many runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kiln/signature.hpp>

#include "kernels/family.hpp"
#include "tools/verify/image.hpp"

namespace kiln::verify {

struct CaseOptions {
  std::int64_t rows = 0;
  std::uint64_t seed = 0;
  LayoutOptions layout;
  std::vector<std::int64_t> sizes{};  // of groups; empty: the family's own
};

class Case {
 public:
  Case(const Signature& signature, const CaseOptions& options);

  [[nodiscard]] const Signature& signature() const noexcept { return signature_; }
  [[nodiscard]] const CaseOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
  // In the order of Problem::tensors.
  [[nodiscard]] const std::vector<Layout>& layouts() const noexcept { return layouts_; }
  [[nodiscard]] const std::vector<std::vector<std::byte>>& images() const noexcept {
    return images_;
  }
  // The double-precision reference; computed when first asked for.
  [[nodiscard]] const std::vector<Expected>& expected();

 private:
  Signature signature_;
  CaseOptions options_;
  Problem problem_;
  std::vector<Layout> layouts_;
  std::vector<std::vector<std::byte>> images_;
  std::optional<std::vector<Expected>> expected_;
};

}  // namespace kiln::verify
