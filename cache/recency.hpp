// When an entry was last used: its modification time, set at most once an hour.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace kiln::cache {

// The access time is not used: most file systems are mounted without it, and backups read too.
class Recency {
 public:
  // An entry was used whose time is `modified`. Failures are ignored: a read-only folder has no
  // eviction either.
  void used(int folder, const std::string& file, std::int64_t modified) noexcept;

 private:
  // The file system's clock less this machine's, known once a stamp was read back.
  std::atomic<std::int64_t> offset_{0};
  std::atomic<bool> known_{false};
};

}  // namespace kiln::cache
