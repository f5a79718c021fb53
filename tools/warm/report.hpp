// What `kiln warm` prints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/warm/outcome.hpp"

namespace kiln::cli {

// A bad line of a recipe.
struct RecipeFault {
  std::string recipe;
  int line = 0;
  std::string detail;
};

struct WarmReport {
  std::vector<Outcome> outcomes;  // in the order of the jobs
  std::vector<RecipeFault> faults;
  std::vector<std::string> warnings;                       // each once
  std::map<std::string, std::vector<std::string>> models;  // by signature
  double seconds = 0;
  int processes = 1;

  [[nodiscard]] bool failed() const noexcept;
};

struct WarmSummary {
  std::size_t hits = 0;  // requests whose kernels were all in the cache
  std::size_t compiled = 0;
  std::size_t embedded = 0;  // composed from the embedded set
  std::size_t composed = 0;  // by either origin
  std::size_t failed = 0;
  double compile_ms_median = 0;  // of the kernels compiled; 0 when there are none
  bool nvrtc_loaded = false;
};

[[nodiscard]] WarmSummary summarize(const WarmReport& report);
// "hit", "compiled", "embedded" or "failed".
[[nodiscard]] std::string_view result_word(const Outcome& outcome) noexcept;

[[nodiscard]] std::string report_table(const WarmReport& report, bool colour);
[[nodiscard]] std::string report_summary(const WarmReport& report);
[[nodiscard]] std::string report_json(const WarmReport& report);

// --json-lines: {"event": "kernel", ...} for each outcome, {"event": "summary", ...} at the end.
struct ProgressCount {
  std::size_t done = 0;
  std::size_t total = 0;
  double seconds = 0;
};
[[nodiscard]] std::string progress_line(const Outcome& outcome, const ProgressCount& count);
[[nodiscard]] std::string summary_line(const WarmReport& report);

}  // namespace kiln::cli
