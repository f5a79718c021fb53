// A file descriptor that closes itself, and reads and writes that do not stop half-way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kiln::cache {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// openat with O_CLOEXEC and O_NOFOLLOW, repeated when a signal interrupts it. -1 and errno on
// failure.
[[nodiscard]] Descriptor open_at(int folder,
                                 const char* name,
                                 int flags,
                                 unsigned mode = 0) noexcept;
[[nodiscard]] Descriptor open_folder_at(int folder, const char* name) noexcept;

// Reads until the end or until `bytes` is full; the number read, or -1 and errno.
[[nodiscard]] std::ptrdiff_t read_all(int fd, std::span<std::byte> bytes) noexcept;
// False and errno when not everything could be written.
[[nodiscard]] bool write_all(int fd, std::span<const std::byte> bytes) noexcept;

// False when a file of this size is over RLIMIT_FSIZE: writing it would send SIGXFSZ, which ends a
// process that does not expect it.
[[nodiscard]] bool file_limit_allows(std::size_t bytes) noexcept;

// Calls visit for each name in a folder, without "." and "..", in no order; false and errno when it
// cannot be read to its end. Memory does not grow with the folder.
bool visit_folder(int folder, const std::function<void(const char* name)>& visit);
// Names in a folder, without "." and ".."; false and errno when it cannot be read to its end.
[[nodiscard]] bool list_folder(int folder, std::vector<std::string>& names);

// "Permission denied (EACCES)".
[[nodiscard]] std::string errno_text(int error);

// 16 hex digits that no other process picks.
[[nodiscard]] std::string random_suffix();

}  // namespace kiln::cache
