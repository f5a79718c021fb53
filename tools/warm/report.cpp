// The table and the summary of a warm.
// SPDX-License-Identifier: Apache-2.0
#include "tools/warm/report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tools/terminal.hpp"

namespace kiln::cli {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Colour colour_of(std::string_view word) {
  if (word == "failed") return Colour::red;
  return word == "compiled" ? Colour::yellow : Colour::green;
}

void add_rows(Table& table, const Outcome& outcome) {
  const std::string_view word = result_word(outcome);
  const Table::Cell result(std::string(word), colour_of(word));
  if (outcome.failed()) {
    table.add({outcome.signature,
               outcome.arch,
               std::string("-"),
               std::string("-"),
               std::string("-"),
               std::string("-"),
               std::string("-"),
               std::string("-"),
               result,
               std::string("-")});
    return;
  }
  bool first = true;
  for (const KernelRow& row : outcome.kernels) {
    table.add({first ? outcome.signature : std::string("  and"),
               outcome.arch,
               outcome.route,
               fmt::to_string(row.stages),
               row.tile,
               human_bytes(static_cast<double>(row.smem_bytes)),
               row.registers < 0 ? std::string("-") : fmt::to_string(row.registers),
               row.origin == "compiled" ? fmt::format("{:.0f}", row.compile_ms) : std::string("-"),
               result,
               row.digest.empty() ? std::string("-") : row.digest.substr(0, 12)});
    first = false;
  }
}

}  // namespace

bool WarmReport::failed() const noexcept {
  return !faults.empty() || std::any_of(outcomes.begin(),
                                        outcomes.end(),
                                        [](const Outcome& outcome) { return outcome.failed(); });
}

std::string_view result_word(const Outcome& outcome) noexcept {
  if (outcome.failed()) return "failed";
  if (outcome.compiled()) return "compiled";
  const bool embedded = std::all_of(outcome.kernels.begin(),
                                    outcome.kernels.end(),
                                    [](const KernelRow& row) { return row.origin == "embedded"; });
  return embedded ? "embedded" : "hit";
}

WarmSummary summarize(const WarmReport& report) {
  WarmSummary summary;
  std::vector<double> times;
  for (const Outcome& outcome : report.outcomes) {
    const std::string_view word = result_word(outcome);
    summary.hits += word == "hit";
    summary.compiled += word == "compiled";
    summary.embedded += word == "embedded";
    summary.failed += word == "failed";
    summary.composed += outcome.route == "composed";
    summary.nvrtc_loaded = summary.nvrtc_loaded || outcome.nvrtc_loaded;
    for (const KernelRow& row : outcome.kernels) {
      if (row.origin == "compiled") times.push_back(row.compile_ms);
    }
  }
  summary.compile_ms_median = median(std::move(times));
  return summary;
}

std::string report_table(const WarmReport& report, bool colour) {
  Table table({{"signature"},
               {"arch"},
               {"route"},
               {"stages", true},
               {"tile"},
               {"shared memory", true},
               {"registers", true},
               {"compile ms", true},
               {"result"},
               {"digest"}});
  for (const Outcome& outcome : report.outcomes) add_rows(table, outcome);
  std::string text = table.text(colour);
  // One line a reason, not one a kernel.
  std::map<std::string, std::size_t> reasons;
  for (const Outcome& outcome : report.outcomes) {
    if (!outcome.reason.empty()) ++reasons[outcome.reason];
  }
  for (const auto& [reason, count] : reasons) {
    text += fmt::format(
        "{} composed because of {}; `kiln explain SIGNATURE` says more\n", count, reason);
  }
  return text;
}

std::string report_summary(const WarmReport& report) {
  const WarmSummary summary = summarize(report);
  std::string text = fmt::format("{} kernels requested: {} hits, {} compiled",
                                 report.outcomes.size(),
                                 summary.hits,
                                 summary.compiled);
  if (summary.compiled > 0)
    text += fmt::format(" (median {:.0f} ms each)", summary.compile_ms_median);
  if (summary.embedded > 0) text += fmt::format(", {} from the embedded set", summary.embedded);
  text += fmt::format(", {} failed; {:.1f} s in {} process{}, NVRTC {}\n",
                      summary.failed,
                      report.seconds,
                      report.processes,
                      report.processes == 1 ? "" : "es",
                      summary.nvrtc_loaded ? "loaded" : "not loaded");
  return text;
}

}  // namespace kiln::cli
