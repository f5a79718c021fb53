// Warnings that are given once a cause, however often the cause comes back.
// SPDX-License-Identifier: Apache-2.0
#include "cache/warnings.hpp"

#include <chrono>

#include "cache/patience.hpp"

namespace kiln::cache {
namespace {

constexpr std::chrono::milliseconds kPatience{100};

}  // namespace

void Warnings::give(const std::string& cause, const std::string& text) noexcept {
  if (!log_) return;
  try {
    bool first = false;
    {
      // Held for an instant, but for ever in a child that was forked in it.
      const auto lock = lock_within(mutex_, kPatience);
      first = lock && given_.insert(cause).second;
    }
    log_(first ? LogLevel::warn : LogLevel::debug, text);
  } catch (...) {
    // A warning that cannot be given must not cost the kernel.
  }
}

}  // namespace kiln::cache
