// What a store counts, under which names, and who is told of each outcome.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "src/core/digest.hpp"

namespace kiln::cache {

// Of this process; statistics() adds up those of all processes.
struct Counters {
  std::atomic<std::uint64_t> hits{0}, layer_hits{0}, misses{0}, puts{0}, already_there{0},
      not_kept{0}, quarantined{0}, lock_waits{0}, lock_timeouts{0};
  // Bad entries met, wherever they were; `quarantined` counts those that could be moved aside.
  std::atomic<std::uint64_t> bad{0};
  std::atomic<std::uint64_t> pack_hits{0}, wait_hits{0}, takeovers{0}, unlocked{0}, unreadable{0},
      refused_places{0}, disk_full{0}, writes_paused{0}, gc_runs{0}, evicted{0}, evicted_bytes{0};
  // Counted by whoever compiles and loads.
  std::atomic<std::uint64_t> compiles{0}, compile_failures{0}, remembered_failures{0},
      load_refusals{0}, remembered_refusals{0}, fallbacks{0};
};

using Counter = std::atomic<std::uint64_t> Counters::*;

struct Outcome {
  std::string_view name;      // in JSON and telemetry; stable
  std::string_view sentence;  // for people
  Counter counter;
};

// The position of an outcome is its slot in the files of stat/: append only, remove nothing.
[[nodiscard]] std::span<const Outcome> outcomes() noexcept;

// One outcome as it happens: its name, the kernel's digest in hex (empty: of no kernel), and the
// detail, such as the place or the reason. Called from any thread, outside every lock.
using Telemetry =
    std::function<void(std::string_view event, std::string_view digest, std::string_view detail)>;

// Counts, and tells. Never throws, whatever the callback does.
class Tally {
 public:
  explicit Tally(Telemetry telemetry) : telemetry_(std::move(telemetry)) {}

  void count(Counter counter,
             const Digest* digest = nullptr,
             std::string_view detail = {},
             std::uint64_t by = 1) noexcept;
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  Counters counters_;
  Telemetry telemetry_;
};

}  // namespace kiln::cache
