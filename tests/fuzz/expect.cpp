// How a broken promise ends a fuzzer or a replay.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {

void expect(bool holds, std::string_view sentence) {
  if (holds) return;
  std::fprintf(stderr, "broken: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  std::abort();
}

}  // namespace kiln::fuzz
