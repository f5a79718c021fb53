// What the tests of the cache share: real temporary folders, small kernels, and forked children.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/layout.hpp"
#include "cache/store.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/testing.hpp"

namespace kiln::cache::testing {

namespace fs = std::filesystem;

inline constexpr uid_t kNobody = 65534;

using kiln::testing::soaking;
using kiln::testing::TemporaryFolder;

// What a store told its log.
struct Recorder {
  struct Lines {
    std::mutex mutex;
    std::vector<std::string> warnings;
  };
  std::shared_ptr<Lines> lines = std::make_shared<Lines>();

  void operator()(LogLevel level, std::string_view text) const {
    const std::lock_guard lock(lines->mutex);
    if (level == LogLevel::warn) lines->warnings.emplace_back(text);
  }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return lines->warnings; }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& line : lines->warnings) all += line + "\n";
    return all;
  }
};

inline Key make_test_key(std::string source, std::string nvrtc = "13.0", std::string id = "aa") {
  return {{{"family", "f"}, {"arch", "sm_90a"}, {"source", std::move(source)}},
          {{"nvrtc", std::move(nvrtc)}, {"nvrtc_id", std::move(id)}, {"builtins_id", "bb"}}};
}

inline Cubin make_test_cubin(std::size_t bytes, std::uint32_t seed = 1) {
  Cubin cubin{{}, "entry_name", 40, 4, 8, 1024};
  cubin.image.resize(bytes);
  for (std::byte& byte : cubin.image) {
    seed = seed * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(seed >> 28U);
  }
  return cubin;
}

inline StoreOptions options_at(const fs::path& root, Log log = {}) {
  StoreOptions options;
  options.root = root.string();
  options.log = std::move(log);
  options.lock_dir = (root.parent_path() / "locks").string();
  return options;
}

inline fs::path entry_file(const fs::path& root, const Key& key) {
  const EntryName name = entry_name(digest(key));
  return root / "v1/e" / name.folder / name.file;
}

inline std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::size_t count_in(const fs::path& folder) {
  if (!fs::exists(folder)) return 0;
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

inline unsigned mode_of(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0U;
}

// Never returns to the test framework: assertions are the parent's.
inline pid_t fork_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is ended leaves no stopped child behind
  int code = 99;
  try {
    code = body();
  } catch (...) {
    code = 98;
  }
  ::_exit(code);
}

// The exit code, or 1000 plus the signal.
inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

inline int in_child(const std::function<int()>& body) { return wait_for(fork_child(body)); }

// Root may write anywhere: what permissions do shows only for another user.
inline int as_nobody(const std::function<int()>& body) {
  return in_child([&] {
    if (::geteuid() == 0) {
      if (::setresgid(kNobody, kNobody, kNobody) != 0) return 97;
      if (::setresuid(kNobody, kNobody, kNobody) != 0) return 97;
    }
    return body();
  });
}

inline void give_to(uid_t user, const fs::path& path) {
  if (::geteuid() != 0) return;
  if (::lchown(path.c_str(), user, user) != 0) std::abort();
}

}  // namespace kiln::cache::testing
