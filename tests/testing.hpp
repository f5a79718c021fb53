// Catch2 2 (Debian 12) and Catch2 3 (Ubuntu 24.04) behind one include.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace kiln::testing {

// For CHECK_THAT: the text contains the piece.
inline auto contains(const std::string& piece) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::ContainsSubstring(piece);
#else
  return Catch::Matchers::Contains(piece);
#endif
}

}  // namespace kiln::testing
