// Waiting for a lock, but not for ever: a child that was forked while another thread held it would.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <thread>

namespace kiln::cache {

// Not locked when the patience has run out. Not a timed mutex: ThreadSanitizer does not know those.
[[nodiscard]] inline std::unique_lock<std::mutex> lock_within(std::mutex& mutex,
                                                              std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    std::unique_lock lock(mutex, std::try_to_lock);
    if (lock || std::chrono::steady_clock::now() >= deadline) return lock;
    lock = {};
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace kiln::cache
