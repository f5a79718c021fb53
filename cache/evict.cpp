// Removing the entries that were used longest ago: a survey of ages, a cut, and a second walk.
// SPDX-License-Identifier: Apache-2.0
#include "cache/evict.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <mutex>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/clock.hpp"
#include "cache/lock.hpp"
#include "cache/publish.hpp"
#include "cache/remembered.hpp"
#include "cache/walk.hpp"

namespace kiln::cache {
namespace {

constexpr std::int64_t kBlockBytes = 4096;
// A trim goes below the bound, so that the next put does not have to trim again.
constexpr std::int64_t kKeepTenths = 9;

// Ages fall into buckets whose width grows with the age: exact up to 127 s, then within 1/64. A
// list of all entries would take memory without bound.
constexpr unsigned kFineBits = 6;
constexpr std::size_t kBuckets = (64 - kFineBits + 1) << kFineBits;

std::size_t bucket_of(std::int64_t age) noexcept {
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(age, 0));
  const auto bits = static_cast<unsigned>(std::bit_width(value));
  if (bits <= kFineBits + 1) return static_cast<std::size_t>(value);
  const unsigned shift = bits - kFineBits - 1;
  return (static_cast<std::size_t>(shift) << kFineBits) + static_cast<std::size_t>(value >> shift);
}

struct Survey {
  std::vector<std::int64_t> bytes = std::vector<std::int64_t>(kBuckets);
  std::int64_t entries = 0;
  std::int64_t total = 0;
  std::int64_t young = 0;

  void add(const Survey& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) bytes[i] += other.bytes[i];
    entries += other.entries;
    total += other.total;
    young += other.young;
  }
};

// What goes: every bucket above `bucket`, and of that one until so many bytes went.
struct Cut {
  std::size_t bucket = kBuckets;
  std::int64_t bytes_of_bucket = 0;
};

void count(Survey& seen,
           const EvictionBounds& bounds,
           std::int64_t age,
           int folder,
           const char* file,
           const struct stat& status) {
  const std::int64_t bytes = occupied_bytes(status.st_size);
  ++seen.entries;
  seen.total += bytes;
  if (age < kYoungSeconds) ++seen.young;
  seen.bytes[bucket_of(age)] += bytes;
  // A time in the future is now: it ages from here on.
  if (age < -kYoungSeconds && !bounds.dry_run) {
    const std::array<timespec, 2> touch = {{{0, UTIME_OMIT}, {0, UTIME_NOW}}};
    (void)::utimensat(folder, file, touch.data(), AT_SYMLINK_NOFOLLOW);
  }
}

// The first walk: the first folders tell how many entries there will be, and so whether threads are
// worth it.
Survey survey(const Root& root, std::int64_t now, const EvictionBounds& bounds) {
  constexpr std::size_t kFirst = 8;
  const auto of_folder = [&](std::size_t number, Survey& seen) {
    visit_files(root, number, [&](int folder, const char* file, const struct stat& status) {
      count(seen, bounds, now - status.st_mtime, folder, file, status);
    });
  };
  Survey all;
  for (std::size_t number = 0; number < kFirst; ++number) of_folder(number, all);
  std::mutex mutex;
  const auto expected = all.entries * static_cast<std::int64_t>(kFanOut / kFirst);
  share_folders(kFirst, expected, [&](std::size_t number) {
    Survey seen;
    of_folder(number, seen);
    const std::lock_guard lock(mutex);
    all.add(seen);
  });
  return all;
}

Cut cut_at(const Survey& seen, const EvictionBounds& bounds) {
  std::int64_t excess = bounds.shed_bytes;
  if (bounds.max_bytes > 0 && seen.total > bounds.max_bytes)
    excess = std::max(excess, seen.total - bounds.max_bytes / 10 * kKeepTenths);
  Cut cut;
  std::int64_t gone = 0;
  const std::size_t youngest = bucket_of(kYoungSeconds);
  while (cut.bucket > youngest && gone < excess) {
    --cut.bucket;
    cut.bytes_of_bucket = excess - gone;
    gone += seen.bytes[cut.bucket];
  }
  return cut;
}

// The second walk: folder by folder, by any number of threads.
class Removal {
 public:
  Removal(const Root& root, std::int64_t now, const Cut& cut, const EvictionBounds& bounds)
      : root_(root), now_(now), cut_(cut), bounds_(bounds) {}

  void run(std::size_t number) {
    visit_files(root_, number, [this](int folder, const char* file, const struct stat& status) {
      consider(folder, file, status);
    });
  }

  [[nodiscard]] std::int64_t removed() const noexcept { return removed_; }
  [[nodiscard]] std::int64_t removed_bytes() const noexcept { return removed_bytes_; }

 private:
  void consider(int folder, const char* file, const struct stat& status) {
    const std::int64_t age = now_ - status.st_mtime;
    if (age < kYoungSeconds) return;
    const std::int64_t bytes = occupied_bytes(status.st_size);
    const std::size_t bucket = bucket_of(age);
    const bool too_old = bounds_.max_age_seconds > 0 && age >= bounds_.max_age_seconds;
    const bool beyond = bucket > cut_.bucket || too_old;
    if (!beyond && bucket != cut_.bucket) return;
    const bool of_bucket = bucket == cut_.bucket;
    // Claimed before it goes, so that two threads do not both take the last one.
    if (of_bucket && of_bucket_.fetch_add(bytes) >= cut_.bytes_of_bucket && !beyond) return;
    if (!bounds_.dry_run && ::unlinkat(folder, file, 0) != 0) {
      if (of_bucket) of_bucket_ -= bytes;
      return;
    }
    ++removed_;
    removed_bytes_ += bytes;
  }

  const Root& root_;
  const std::int64_t now_;
  const Cut cut_;
  const EvictionBounds& bounds_;
  std::atomic<std::int64_t> of_bucket_{0};
  std::atomic<std::int64_t> removed_{0};
  std::atomic<std::int64_t> removed_bytes_{0};
};

bool any_too_old(const Survey& seen, std::int64_t max_age_seconds) {
  if (max_age_seconds <= 0) return false;
  const std::size_t first = bucket_of(std::max(max_age_seconds, kYoungSeconds));
  return std::any_of(seen.bytes.begin() + static_cast<std::ptrdiff_t>(first),
                     seen.bytes.end(),
                     [](std::int64_t bytes) { return bytes > 0; });
}

}  // namespace

std::int64_t occupied_bytes(std::int64_t file_bytes) noexcept {
  return (std::max<std::int64_t>(file_bytes, 1) + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

GcResult evict(const Root& root, const EvictionBounds& bounds) {
  GcResult result;
  const Descriptor lock = open_gc_lock(root.version.get());
  const auto now = lock ? filesystem_seconds(lock.get()) : std::nullopt;
  if (!now) {
    result.reason = "cannot use " + root.path + "/v1/gc.lock: " + errno_text(errno);
    return result;
  }
  // Where there are no locks, two may evict at once: each removes what the other has not yet.
  if (try_lock(lock.get(), 0) == LockAttempt::busy) {
    result.reason = "another process is removing old entries";
    return result;
  }
  result.ran = true;
  if (!bounds.dry_run) {
    sweep_temporaries(root);
    sweep_remembered(root, *now);
  }
  const Survey seen = survey(root, *now, bounds);
  result.entries = seen.entries;
  result.bytes = seen.total;
  result.young = seen.young;
  const Cut cut = cut_at(seen, bounds);
  if (cut.bucket == kBuckets && !any_too_old(seen, bounds.max_age_seconds)) return result;
  Removal removal(root, *now, cut, bounds);
  share_folders(0, seen.entries, [&](std::size_t number) { removal.run(number); });
  result.removed = removal.removed();
  result.removed_bytes = removal.removed_bytes();
  return result;
}

std::int64_t estimate_bytes(const Root& root, const std::string& folder) {
  const Descriptor opened = open_folder_at(root.entries.get(), folder.c_str());
  if (!opened) return 0;
  std::int64_t bytes = 0;
  visit_folder(opened.get(), [&](const char* file) {
    struct stat status {};
    if (is_entry_file(file) && ::fstatat(opened.get(), file, &status, AT_SYMLINK_NOFOLLOW) == 0)
      bytes += occupied_bytes(status.st_size);
  });
  return bytes * static_cast<std::int64_t>(kFanOut);
}

}  // namespace kiln::cache
