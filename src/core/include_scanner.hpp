// Finds the includes of one device file, or refuses the file: what is not understood must not reach
// the compiler.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct Include {
  std::string name;  // between the quotes or the angle brackets
  std::size_t line = 0;
};

// Follows the language's own phases: line continuations, comments, character, string and raw-string
// literals, then directives. Includes in skipped #if groups are found as well: a closure that is
// too large is only a slower key. Throws Error{invalid_source} with "file:line" for what
// closure.hpp lists.
[[nodiscard]] std::vector<Include> scan_includes(std::string_view file, std::string_view text);

}  // namespace kiln
