// The clock of the cache's file system: the one that gives files their times.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "cache/descriptor.hpp"

namespace kiln::cache {

// v1/gc.lock, made when missing. It is locked by whoever evicts, and touched to read the clock.
[[nodiscard]] Descriptor open_gc_lock(int version_folder) noexcept;

// Seconds since the epoch by the file system's clock: the time it gives to a file touched now.
// Another machine's on a network file system. Nothing, and errno, where nothing can be touched.
[[nodiscard]] std::optional<std::int64_t> filesystem_seconds(int gc_lock) noexcept;

}  // namespace kiln::cache
