// Bad entries are moved aside, where a person can look at them and they are in nobody's way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cache/layout.hpp"
#include "cache/reader.hpp"

namespace kiln::cache {

// The most things kept in bad/; the oldest go first.
inline constexpr int kMaxQuarantined = 32;

// Moves what `folder` holds under `name` to bad/, if it is still the thing that was looked at.
// False when it could not be moved, with the error's text.
[[nodiscard]] bool move_aside(
    const Root& root, int folder, const std::string& name, const FileId& id, std::string& error);

}  // namespace kiln::cache
