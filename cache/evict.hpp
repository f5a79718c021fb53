// Removing the entries that were used longest ago.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cache/layout.hpp"
#include "cache/store.hpp"

namespace kiln::cache {

// Nothing used more recently than this goes: it may be about to be loaded by a slow starter.
inline constexpr std::int64_t kYoungSeconds = 600;
// An entry's time is set at most this often when it is used.
inline constexpr std::int64_t kStampSeconds = 3600;

struct EvictionBounds {
  std::int64_t max_bytes = 0;        // 0: none
  std::int64_t max_age_seconds = 0;  // 0: none
  std::int64_t shed_bytes = 0;       // remove at least so much
  bool dry_run = false;
};

// What an entry takes up: file systems hand out blocks.
[[nodiscard]] std::int64_t occupied_bytes(std::int64_t file_bytes) noexcept;

// Under v1/gc.lock, which one process holds at a time; never waits for it. Also removes what dead
// processes and ended verdicts left. Memory does not grow with the number of entries.
[[nodiscard]] GcResult evict(const Root& root, const EvictionBounds& bounds);

// What the root would hold if all fan-out folders were like this one: digests spread evenly.
[[nodiscard]] std::int64_t estimate_bytes(const Root& root, const std::string& folder);

}  // namespace kiln::cache
