// Warnings that are given once a cause, however often the cause comes back.
// SPDX-License-Identifier: Apache-2.0
#include "cache/warnings.hpp"

namespace kiln::cache {

void Warnings::give(const std::string& cause, const std::string& text) noexcept {
  if (!log_) return;
  try {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = given_.insert(cause).second;
    }
    log_(first ? LogLevel::warn : LogLevel::debug, text);
  } catch (...) {
    // A warning that cannot be given must not cost the kernel.
  }
}

}  // namespace kiln::cache
