// Opened without waiting, since open() itself waits for a FIFO's writer otherwise.
// SPDX-License-Identifier: Apache-2.0
#include "src/core/named_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace kiln {
namespace {

// For a writer to come. A shell opens a redirection before it starts the program that writes.
constexpr int kPatienceMilliseconds = 2000;

class File {
 public:
  explicit File(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  const int fd_;
};

// Why a file of this kind is not read; empty when it is.
std::string refusal(mode_t mode, bool pipes) {
  if (S_ISREG(mode)) return {};
  if (S_ISDIR(mode)) return "it is a folder";
  if (S_ISBLK(mode)) return "it is a block device";
  if (pipes) return {};
  return S_ISFIFO(mode) ? "it is a pipe; a regular file is needed"
                        : "it is no regular file, and one is needed";
}

// Whether its writer may come after its reader; that of a pipe without a name cannot.
bool is_fifo_with_name(int fd, mode_t mode) {
  struct statfs system {};
  return S_ISFIFO(mode) && ::fstatfs(fd, &system) == 0 && system.f_type != PIPEFS_MAGIC;
}

std::string errno_text(int error) { return std::strerror(error); }

NamedFile read_to_end(int fd, bool may_lack_writer, std::size_t most_bytes) {
  NamedFile file;
  bool writer = !may_lack_writer;  // is there, or was; its bytes are waited for however long
  bool waited = false;
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != EAGAIN) return {{}, errno_text(errno)};
    if (got > 0) {
      writer = true;
      file.text.append(block.data(), static_cast<std::size_t>(got));
      if (file.text.size() <= most_bytes) continue;
      return {{}, fmt::format("it is larger than {} bytes", most_bytes)};
    }
    if (got == 0 && writer) return file;
    if (got == 0 && waited) return {{}, "it is a FIFO that nobody writes to"};
    if (got < 0) writer = true;  // has it open, and has written nothing yet
    pollfd polled{fd, POLLIN, 0};
    waited = ::poll(&polled, 1, writer ? -1 : kPatienceMilliseconds) >= 0;
    if ((polled.revents & POLLHUP) != 0) writer = true;  // came and went
  }
}

NamedFile read_file(const std::string& path, std::size_t most_bytes, bool pipes) {
  const File file(path);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return {{}, errno_text(errno)};
  if (std::string why = refusal(status.st_mode, pipes); !why.empty()) return {{}, std::move(why)};
  return read_to_end(file.get(), is_fifo_with_name(file.get(), status.st_mode), most_bytes);
}

}  // namespace

NamedFile read_named_file(const std::string& path, std::size_t most_bytes) {
  return read_file(path, most_bytes, true);
}

NamedFile read_regular_file(const std::string& path, std::size_t most_bytes) {
  return read_file(path, most_bytes, false);
}

}  // namespace kiln
