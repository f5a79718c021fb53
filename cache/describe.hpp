// What is told about an entry, out of its key and metadata.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cache/entry.hpp"
#include "cache/store.hpp"

namespace kiln::cache {

[[nodiscard]] EntryInfo describe(const Entry& entry, std::int64_t file_bytes);
// The same for a caller who knows the digest of its key.
[[nodiscard]] EntryInfo describe(const Entry& entry, const Digest& digest, std::int64_t file_bytes);

// The toolchain a key names; zero and empty members where it does not say.
[[nodiscard]] Toolchain toolchain_of(const Key& key);

// Whether a was made by a newer toolchain than b.
[[nodiscard]] bool is_newer(const Toolchain& a, const Toolchain& b) noexcept;

}  // namespace kiln::cache
