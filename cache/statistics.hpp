// Outcomes of all processes on disk: appended now and then, added up when asked for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <sys/types.h>

#include "cache/counters.hpp"
#include "cache/layout.hpp"

namespace kiln::cache {

// More than there are outcomes, so that later ones fit into the same record.
inline constexpr std::size_t kStatisticSlots = 32;
using Sums = std::array<std::uint64_t, kStatisticSlots>;

// Appends one record to v1/stat/counters. Never waits; false: try again later, soon when errno is
// EAGAIN.
bool append_statistics(const Root& root, const Sums& sums);
// Bytes that are no record are skipped; a missing or unreadable file is zero.
[[nodiscard]] Sums read_statistics(const Root& root);
// The same, and starts anew.
[[nodiscard]] Sums take_statistics(const Root& root);

// What this process has counted and not yet appended.
class Unsaved {
 public:
  Unsaved() noexcept;

  // Whether it is time: many outcomes, or the last time is a second ago. What a process that is
  // killed has not appended is lost.
  [[nodiscard]] bool due() noexcept;
  // `save` gets what was counted since it last returned true; not called when that is nothing.
  // False: there is something left.
  template <class Save>
  bool flush(const Counters& counters, Save&& save) {
    // Never waited for: a child that is forked while another thread holds it would wait for ever.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
      errno = EAGAIN;
      return false;
    }
    const Sums now = sums_of(counters);
    if (is_forked_copy(now)) return true;
    Sums delta{};
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < delta.size(); ++i) any |= delta[i] = now[i] - saved_[i];
    if (any == 0) return true;
    if (!save(delta)) return false;
    saved_ = now;
    return true;
  }

 private:
  [[nodiscard]] static Sums sums_of(const Counters& counters) noexcept;
  // What a forked child inherited is its parent's to save.
  [[nodiscard]] bool is_forked_copy(const Sums& now) noexcept;

  std::mutex mutex_;
  Sums saved_{};
  pid_t process_;
  std::atomic<int> events_{0};
  std::atomic<std::int64_t> last_ms_{0};
};

}  // namespace kiln::cache
