// Whether this is a forked child of the process that made an object, at the price of one load.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace kiln {

// A page that the kernel wipes in a child: no system call to ask, no handler that a fork runs.
class ForkMark {
 public:
  ForkMark();
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  // Since construction, or since the last settle().
  [[nodiscard]] bool forked() const noexcept {
    return mark_ != nullptr && mark_->load(std::memory_order_acquire) != kSettled;
  }
  // True for exactly one thread of a forked child; the others wait in it until that one settles.
  [[nodiscard]] bool claim() noexcept;
  void settle() noexcept;
  // Instead of settle(): the next thread that asks claims it again.
  void give_up() noexcept;

 private:
  static constexpr std::uint32_t kForked = 0;  // what a wiped page holds
  static constexpr std::uint32_t kClaimed = 1;
  static constexpr std::uint32_t kSettled = 2;

  std::atomic<std::uint32_t>* mark_ = nullptr;  // null where pages cannot be wiped: never forked
};

}  // namespace kiln
