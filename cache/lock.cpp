// Locks of single digests between the processes of one node.
// SPDX-License-Identifier: Apache-2.0
#include "cache/lock.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/store.hpp"
#include "cache/trust.hpp"

namespace kiln::cache {
namespace {

constexpr const char* kLockName = "kiln.lock";

Problem lock_problem(const std::string& folder, const std::string& reason) {
  return {"lock:" + reason,
          "cannot lock in " + folder + ": " + reason +
              "; processes that start together may compile the same kernel more than once"};
}

struct flock whole_byte(short type, std::int64_t offset, std::int64_t length) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = offset;
  range.l_len = length;
  return range;
}

}  // namespace

std::int64_t lock_offset(const Digest& digest) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    value = (value << 8U) | static_cast<std::uint64_t>(digest.kernel[i] ^ digest.toolchain[i]);
  }
  // 62 bits: offset plus length stays within off_t.
  return static_cast<std::int64_t>(value >> 2U);
}

std::string default_lock_folder() { return "/dev/shm/kiln-" + std::to_string(::geteuid()); }

std::variant<Descriptor, Problem> open_lock_file(const std::string& folder) {
  // Its parent is the system's to make.
  bool created = false;
  const Descriptor opened = make_folder_at(AT_FDCWD, folder.c_str(), created);
  if (!opened) return lock_problem(folder, errno_text(errno));
  // Anybody may make a folder in /dev/shm: one that was made by another user is not used.
  if (auto reason = distrust_descriptor(opened.get(), folder, ::geteuid()))
    return lock_problem(folder, *reason);
  Descriptor file =
      open_at(opened.get(), kLockName, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, 0600);
  if (!file) return lock_problem(folder, errno_text(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid()) {
    return lock_problem(folder, std::string(kLockName) + " is not a regular file of this user");
  }
  // The umask may have taken bits that the next process needs.
  if ((status.st_mode & 07777U) != 0600U) (void)::fchmod(file.get(), 0600);
  return file;
}

namespace {

LockAttempt attempt(int fd, short type, std::int64_t offset) noexcept {
  struct flock range = whole_byte(type, offset, 1);
  for (;;) {
    if (::fcntl(fd, F_OFD_SETLK, &range) == 0) return LockAttempt::acquired;
    if (errno == EAGAIN || errno == EACCES) return LockAttempt::busy;
    if (errno != EINTR) return LockAttempt::impossible;
  }
}

}  // namespace

LockAttempt try_lock(int fd, std::int64_t offset) noexcept { return attempt(fd, F_WRLCK, offset); }

LockAttempt try_lock_shared(int fd, std::int64_t offset) noexcept {
  return attempt(fd, F_RDLCK, offset);
}

void unlock(int fd) noexcept {
  struct flock range = whole_byte(F_UNLCK, 0, 0);
  (void)::fcntl(fd, F_OFD_SETLK, &range);
}

EntryLock::EntryLock(EntryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

EntryLock& EntryLock::operator=(EntryLock&& other) noexcept {
  if (this != &other) {
    const EntryLock old(std::move(*this));
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

EntryLock::~EntryLock() {
  if (fd_ < 0) return;
  unlock(fd_);
  ::close(fd_);
}

}  // namespace kiln::cache
