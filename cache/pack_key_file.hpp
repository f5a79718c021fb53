// Key files: read whole, written without replacing anything.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "cache/layout.hpp"

namespace kiln::cache {

// A PEM of an Ed25519 key has 120 bytes; some carry comments.
inline constexpr std::size_t kMaxKeyFileBytes = std::size_t{64} << 10U;

[[nodiscard]] std::variant<std::string, Problem> read_key_file(const std::string& path);
// Synced; the mode is `mode` whatever the umask.
[[nodiscard]] std::optional<Problem> write_key_file(const std::string& path,
                                                    std::string_view text,
                                                    unsigned mode);

}  // namespace kiln::cache
