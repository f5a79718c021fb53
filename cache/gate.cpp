// A root that passed every check, recognised at the next look without walking its path again.
// SPDX-License-Identifier: Apache-2.0
#include "cache/gate.hpp"

#include <utility>

#include <fcntl.h>

namespace kiln::cache {
namespace {

// So that permissions that become wrong are told of, though they endanger nothing yet.
constexpr std::chrono::seconds kCheckAgain{1};

bool is_same(const struct stat& a, const struct stat& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_uid == b.st_uid &&
         a.st_gid == b.st_gid && a.st_mode == b.st_mode;
}

}  // namespace

std::optional<Gate::Passed> Gate::pass() const {
  Known known;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !known_ || std::chrono::steady_clock::now() >= known_->until) return std::nullopt;
    known = *known_;
  }
  Descriptor entries = open_at(AT_FDCWD, known.entries.c_str(), O_RDONLY | O_DIRECTORY);
  struct stat status {};
  if (!entries || ::fstat(entries.get(), &status) != 0 || !is_same(status, known.status))
    return std::nullopt;
  return Passed{std::move(entries), std::move(known.root), known.owner};
}

void Gate::remember(const std::string& path, const Root& root) {
  Known known{path + "/v1/e", root.path, root.owner, {}, std::chrono::steady_clock::now()};
  if (::fstat(root.entries.get(), &known.status) != 0) return;
  known.until += kCheckAgain;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) known_ = std::move(known);
}

}  // namespace kiln::cache
