// A file descriptor that closes itself, and reads and writes that do not stop half-way.
// SPDX-License-Identifier: Apache-2.0
#include "cache/descriptor.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kiln::cache {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() {
  // errno belongs to the call that failed before this descriptor went out of scope.
  const int saved = errno;
  if (fd_ >= 0) ::close(fd_);
  errno = saved;
}

Descriptor open_at(int folder, const char* name, int flags, unsigned mode) noexcept {
  int fd = -1;
  do {
    fd = ::openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, mode);
  } while (fd < 0 && errno == EINTR);
  return Descriptor(fd);
}

Descriptor open_folder_at(int folder, const char* name) noexcept {
  return open_at(folder, name, O_RDONLY | O_DIRECTORY);
}

std::ptrdiff_t read_all(int fd, std::span<std::byte> bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      return -1;
    }
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::ptrdiff_t>(done);
}

bool write_all(int fd, std::span<const std::byte> bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (put < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (put == 0) {  // a file system that takes nothing and names no error
      errno = ENOSPC;
      return false;
    }
    done += static_cast<std::size_t>(put);
  }
  return true;
}

bool file_limit_allows(std::size_t bytes) noexcept {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

bool visit_folder(int folder, const std::function<void(const char* name)>& visit) {
  // A fresh description: fdopendir owns its descriptor and shares the read position with
  // duplicates.
  Descriptor own = open_folder_at(folder, ".");
  if (!own) return false;
  std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), &::closedir);
  if (!stream) return false;
  (void)own.release();
  for (;;) {
    errno = 0;
    const dirent* found = ::readdir(stream.get());
    if (found == nullptr) break;
    const std::string_view name = found->d_name;
    if (name != "." && name != "..") visit(found->d_name);
  }
  const int error = errno;
  stream.reset();
  errno = error;
  return error == 0;
}

bool list_folder(int folder, std::vector<std::string>& names) {
  return visit_folder(folder, [&](const char* name) { names.emplace_back(name); });
}

std::string errno_text(int error) {
  const char* name = ::strerrorname_np(error);
  const char* text = ::strerrordesc_np(error);
  return std::string(text != nullptr ? text : "unknown error") + " (" +
         (name != nullptr ? std::string(name) : std::to_string(error)) + ")";
}

std::string random_suffix() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
    // O_EXCL catches a clash; this only has to be unlikely to clash.
    value =
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
        (static_cast<std::uint64_t>(::getpid()) << 40U);
  }
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = kDigits[(value >> (4 * i)) & 15U];
  return text;
}

}  // namespace kiln::cache
