// Sizes of the groups that a problem's rows fall into, from a short text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/signature.hpp>

#include "kernels/family.hpp"

namespace kiln::verify {

// "64", "64:zipf", or sizes themselves: "100,0,28".
class Groups {
 public:
  // How rows are dealt to a count of groups:
  //   balanced   as evenly as they go
  //   skewed     half of the groups have three times the rows of the others
  //   one-empty  balanced, but the middle group is empty
  //   zipf       in proportion to 1/rank
  // The last three in an order that depends on the seed alone.
  enum class Kind { balanced, skewed, one_empty, zipf };
  static constexpr std::int64_t kMostGroups = 1024;

  // Throws Error{invalid_argument} that quotes the text and says what is known.
  [[nodiscard]] static Groups parse(std::string_view text);

  // Whether the sizes were given, and so the rows: their sum.
  [[nodiscard]] bool given() const noexcept { return !sizes_.empty(); }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  // The same kind with fewer groups; not for given sizes.
  [[nodiscard]] Groups with_count(std::int64_t count) const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // Sizes that add up to `rows`; those given, whatever `rows` is.
  [[nodiscard]] std::vector<std::int64_t> sizes(std::int64_t rows, std::uint64_t seed) const;

 private:
  std::string text_;
  std::int64_t count_ = 0;
  Kind kind_ = Kind::balanced;
  std::vector<std::int64_t> sizes_;
};

// The problem of a signature; with sizes, in groups of them. Throws Error{invalid_argument} where
// an op has no groups.
[[nodiscard]] Problem make_problem(const Signature& signature,
                                   std::int64_t rows,
                                   const std::vector<std::int64_t>& sizes);

}  // namespace kiln::verify
