// The clock of the cache's file system: the one that gives files their times.
// SPDX-License-Identifier: Apache-2.0
#include "cache/clock.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace kiln::cache {

Descriptor open_gc_lock(int version_folder) noexcept {
  Descriptor file =
      open_at(version_folder, "gc.lock", O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, 0600);
  if (!file) return {};
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return {};
  if (!S_ISREG(status.st_mode)) {
    errno = EINVAL;
    return {};
  }
  // The umask may have taken bits that the next process needs.
  if ((status.st_mode & 07777U) != 0600U) (void)::fchmod(file.get(), 0600);
  return file;
}

std::optional<std::int64_t> filesystem_seconds(int gc_lock) noexcept {
  const std::array<timespec, 2> now = {{{0, UTIME_NOW}, {0, UTIME_NOW}}};
  struct stat status {};
  if (::futimens(gc_lock, now.data()) != 0 || ::fstat(gc_lock, &status) != 0) return std::nullopt;
  return status.st_mtime;
}

}  // namespace kiln::cache
