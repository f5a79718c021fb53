// Outcomes of all processes on disk: appended now and then, added up when asked for.
// SPDX-License-Identifier: Apache-2.0
#include "cache/statistics.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/lock.hpp"

namespace kiln::cache {
namespace {

constexpr const char* kFolder = "stat";
constexpr const char* kFile = "counters";
constexpr const char* kLock = "lock";
constexpr std::string_view kMagic = "KILNSTA1";
constexpr std::size_t kChecksumBytes = 8;
constexpr std::size_t kRecordBytes =
    kMagic.size() + kStatisticSlots * sizeof(std::uint64_t) + kChecksumBytes;
// 240 records: the whole file is then replaced by their sum.
constexpr off_t kCompactBytes = 240 * static_cast<off_t>(kRecordBytes);
// More than ever is there: of a larger file the beginning counts.
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
constexpr int kManyEvents = 256;
constexpr std::int64_t kPauseMs = 1000;

std::string encode(const Sums& sums) {
  std::string record(kMagic);
  for (const std::uint64_t sum : sums) {
    for (unsigned i = 0; i < 8; ++i) record += static_cast<char>((sum >> (8 * i)) & 0xffU);
  }
  const Sha256 checksum = sha256(record);
  record.append(reinterpret_cast<const char*>(checksum.data()), kChecksumBytes);
  return record;
}

bool add_record(std::string_view record, Sums& sums) {
  const std::string_view body = record.substr(0, kRecordBytes - kChecksumBytes);
  const Sha256 checksum = sha256(body);
  if (std::memcmp(record.data() + body.size(), checksum.data(), kChecksumBytes) != 0) return false;
  for (std::size_t slot = 0; slot < sums.size(); ++slot) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i) {
      const auto byte = static_cast<unsigned char>(body[kMagic.size() + slot * 8 + i]);
      value |= std::uint64_t{byte} << (8 * i);
    }
    sums[slot] += value;
  }
  return true;
}

// An append that was cut short shifts what follows: records are looked for by their first bytes.
Sums add_up(std::string_view bytes) {
  Sums sums{};
  std::size_t at = bytes.find(kMagic);
  while (at != std::string_view::npos && bytes.size() - at >= kRecordBytes) {
    const bool right = add_record(bytes.substr(at, kRecordBytes), sums);
    at = bytes.find(kMagic, at + (right ? kRecordBytes : 1));
  }
  return sums;
}

Descriptor open_regular(int folder, const char* name, int flags) {
  Descriptor file = open_at(folder, name, flags | O_NONBLOCK | O_NOCTTY, 0600);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  if ((flags & O_CREAT) != 0 && (status.st_mode & 07777U) != 0600U)
    (void)::fchmod(file.get(), 0600);
  return file;
}

Sums read_file(int folder) {
  const Descriptor file = open_regular(folder, kFile, O_RDONLY);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return {};
  std::string bytes(std::min(static_cast<std::size_t>(status.st_size), kMostBytes), '\0');
  const auto got = read_all(file.get(), std::as_writable_bytes(std::span(bytes)));
  return add_up(std::string_view(bytes).substr(0, got < 0 ? 0 : static_cast<std::size_t>(got)));
}

// Caller holds the lock alone.
void replace_by_sum(int folder) {
  const std::string record = encode(read_file(folder));
  const std::string name = "new." + random_suffix();
  const Descriptor file = open_at(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file) return;
  const bool written = ::fchmod(file.get(), 0600) == 0 && file_limit_allows(record.size()) &&
                       write_all(file.get(), std::as_bytes(std::span(record)));
  if (!written || ::renameat(folder, name.c_str(), folder, kFile) != 0)
    ::unlinkat(folder, name.c_str(), 0);
}

}  // namespace

bool append_statistics(const Root& root, const Sums& sums) {
  bool created = false;
  const Descriptor folder = make_folder_at(root.version.get(), kFolder, created);
  if (!folder) return false;
  const Descriptor lock = open_regular(folder.get(), kLock, O_RDWR | O_CREAT);
  // Who replaces the file holds the lock alone: an append to the old one would be lost.
  if (!lock) return false;
  if (try_lock_shared(lock.get(), 0) == LockAttempt::busy) {
    errno = EAGAIN;
    return false;
  }
  off_t size = 0;
  {
    const Descriptor file = open_regular(folder.get(), kFile, O_WRONLY | O_CREAT | O_APPEND);
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return false;
    const std::string record = encode(sums);
    size = status.st_size + static_cast<off_t>(record.size());
    if (!file_limit_allows(static_cast<std::size_t>(size))) return false;
    if (!write_all(file.get(), std::as_bytes(std::span(record)))) return false;
  }
  // Two that try at once both fail: one of the next appends does it.
  if (size > kCompactBytes && try_lock(lock.get(), 0) == LockAttempt::acquired)
    replace_by_sum(folder.get());
  return true;
}

Sums read_statistics(const Root& root) {
  const Descriptor folder = open_folder_at(root.version.get(), kFolder);
  return folder ? read_file(folder.get()) : Sums{};
}

Sums take_statistics(const Root& root) {
  const Descriptor folder = open_folder_at(root.version.get(), kFolder);
  if (!folder) return {};
  const Descriptor lock = open_regular(folder.get(), kLock, O_RDWR | O_CREAT);
  // Appends take microseconds; one that is stopped in the middle is not waited for.
  for (int i = 0; lock && i < 1000 && try_lock(lock.get(), 0) == LockAttempt::busy; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Sums sums = read_file(folder.get());
  ::unlinkat(folder.get(), kFile, 0);
  return sums;
}

Unsaved::Unsaved() noexcept : process_(::getpid()) {}

bool Unsaved::due() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  std::int64_t last = 0;
  if (last_ms_.compare_exchange_strong(last, now_ms)) last = now_ms;  // the first event
  if (++events_ < kManyEvents && now_ms - last < kPauseMs) return false;
  events_ = 0;
  last_ms_ = now_ms;
  return true;
}

Sums Unsaved::sums_of(const Counters& counters) noexcept {
  Sums sums{};
  for (std::size_t i = 0; i < outcomes().size(); ++i) sums[i] = counters.*(outcomes()[i].counter);
  return sums;
}

bool Unsaved::is_forked_copy(const Sums& now) noexcept {
  const pid_t process = ::getpid();
  if (process_ == process) return false;
  process_ = process;
  saved_ = now;
  return true;
}

}  // namespace kiln::cache
