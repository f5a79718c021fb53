// Catch2 2 (Debian 12) and Catch2 3 (Ubuntu 24.04) behind one include.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace kiln::testing {

// KILN_SOAK=1, as in ./dev soak: counts that take minutes.
inline bool soaking() {
  const char* soak = std::getenv("KILN_SOAK");
  return soak != nullptr && *soak == '1';
}

// For CHECK_THAT: the text contains the piece.
inline auto contains(const std::string& piece) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::ContainsSubstring(piece);
#else
  return Catch::Matchers::Contains(piece);
#endif
}

}  // namespace kiln::testing
