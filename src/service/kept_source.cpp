// Temporary files for sources that did not compile.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/kept_source.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace kiln {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string keep_source(const Source& source, const Digest& digest) {
  // A random part in the name: a predictable one in a folder everybody may write could be
  // somebody's link.
  std::string path =
      fmt::format("{}/kiln-{}-XXXXXX.cu", P_tmpdir, digest.kernel_hex().substr(0, 16));
  const int fd = ::mkstemps(path.data(), 3);
  if (fd < 0)
    return fmt::format("The source could not be kept: {}: {}", path, std::strerror(errno));
  const bool complete = write_all(fd, source.text);
  const int error = errno;
  ::close(fd);
  if (!complete) {
    ::unlink(path.c_str());
    return fmt::format("The source could not be kept: {}: {}", path, std::strerror(error));
  }
  return fmt::format("The source is in {}", path);
}

}  // namespace kiln
