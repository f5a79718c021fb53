// Everything `kiln run` says about one signature on one device: right, repeatable, and how fast.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kiln/service.hpp>

#include "src/cuda/driver.hpp"
#include "tools/verify/compare.hpp"
#include "tools/verify/groups.hpp"
#include "tools/verify/image.hpp"
#include "tools/verify/timing.hpp"

namespace kiln::verify {

struct ExamineOptions {
  std::int64_t check_rows = 0;
  std::int64_t time_rows = 0;  // 0: no timing
  std::uint64_t seed = 0;
  int repeats = 20;  // further runs that must give the same bits
  LayoutOptions layout;
  std::optional<Groups> groups;  // of ops that have groups; absent: the family's own
};

// A comparison of bits with the first run; `difference` is empty when every bit is equal.
struct BitCheck {
  std::string what;  // "20 more runs"
  std::string difference;
};

struct Examination {
  Plan plan;
  ExamineOptions options;
  std::vector<TensorCheck> checks;
  std::vector<BitCheck> bit_checks;
  std::vector<std::string> failures;  // sentences; empty when all is well
  // With options.groups: how many were checked, fewer where a host could not hold the reference of
  // all.
  std::int64_t checked_groups = 0;
  std::optional<Timing> timing;
  std::int64_t timed_bytes = 0;
  double timed_flops = 0;

  [[nodiscard]] bool passed() const noexcept { return failures.empty(); }
  // The largest error over its bound, of all tensors.
  [[nodiscard]] double worst_ratio() const noexcept;
};

struct Subjects {
  const Driver& driver;
  Prepared prepared;                 // what is examined
  std::optional<Prepared> composed;  // must give the same bits; absent: not compared
  Timer* timer = nullptr;            // absent: not timed
};

// The device's context must be current. Throws Error for what the driver refuses.
[[nodiscard]] Examination examine(const Subjects& subjects, const ExamineOptions& options);

// Rows whose launch moves about 400 MB, far above any L2: a power of two.
[[nodiscard]] std::int64_t rows_worth_timing(const Signature& signature);

}  // namespace kiln::verify
