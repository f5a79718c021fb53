// Keeps the source of a failed compile where a person can look at it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/core/closure.hpp"
#include "src/core/digest.hpp"

namespace kiln {

// Writes a temporary file that only this user can read. Returns a sentence with its path, or why
// there is none.
[[nodiscard]] std::string keep_source(const Source& source, const Digest& digest);

}  // namespace kiln
