// A root that passed every check, recognised at the next look without walking its path again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include <sys/stat.h>
#include <sys/types.h>

#include "cache/descriptor.hpp"
#include "cache/layout.hpp"

namespace kiln::cache {

// The folder v1/e is what protects the entries: whoever can replace it, or a folder above it, puts
// another folder in its place, and that one is checked from the top. While it is the same folder,
// of the same owner and mode, nobody else could change what is in it. No descriptor is kept, so a
// root that is moved or removed is seen as it is. Any number of threads.
class Gate {
 public:
  struct Passed {
    Descriptor entries;  // v1/e
    std::string root;    // as Root::path
    uid_t owner = 0;     // as Root::owner
  };

  // Nothing: all has to be checked, as the first time and every second.
  [[nodiscard]] std::optional<Passed> pass() const;
  // This root, opened by this path, has just passed all checks.
  void remember(const std::string& path, const Root& root);

 private:
  struct Known {
    std::string entries;  // path of v1/e
    std::string root;
    uid_t owner = 0;
    struct stat status {};
    std::chrono::steady_clock::time_point until;
  };

  // Never waited for: a child that is forked while another thread holds it would wait for ever.
  mutable std::mutex mutex_;
  std::optional<Known> known_;
};

}  // namespace kiln::cache
