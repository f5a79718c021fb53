// When an entry was last used: its modification time, set at most once an hour.
// SPDX-License-Identifier: Apache-2.0
#include "cache/recency.hpp"

#include <array>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/evict.hpp"

namespace kiln::cache {
namespace {

// Clocks of a file system and of a machine tick apart by less than this.
constexpr std::int64_t kSlackSeconds = 2;

}  // namespace

void Recency::used(int folder, const std::string& file, std::int64_t modified) noexcept {
  const auto machine = static_cast<std::int64_t>(std::time(nullptr));
  const std::int64_t age = machine + offset_ - modified;
  // A time in the future is either wrong, and then left to eviction, or says that the clocks
  // differ.
  if (age < -kSlackSeconds ? known_.load() : age < kStampSeconds) return;
  const std::array<timespec, 2> touch = {{{0, UTIME_OMIT}, {0, UTIME_NOW}}};
  struct stat status {};
  if (::utimensat(folder, file.c_str(), touch.data(), AT_SYMLINK_NOFOLLOW) != 0) return;
  if (::fstatat(folder, file.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  offset_ = static_cast<std::int64_t>(status.st_mtime) - machine;
  known_ = true;
}

}  // namespace kiln::cache
