// The JSON documents of the verbs; one file makes them all, because the JSON library is slow to
// compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/error.hpp>
#include <kiln/plan.hpp>

#include "cache/store.hpp"
#include "tools/doctor/finding.hpp"
#include "tools/verify/examine.hpp"
#include "tools/warm/coverage.hpp"

namespace kiln::cli {

[[nodiscard]] std::string error_document(const Error& error);
[[nodiscard]] std::string source_document(const Plan& plan,
                                          std::size_t stage,
                                          std::string_view source);
[[nodiscard]] std::string list_document(const std::string& root,
                                        const std::vector<cache::Found>& entries);
[[nodiscard]] std::string verify_document(const std::string& root,
                                          std::int64_t checked,
                                          const std::vector<cache::VerifyProblem>& problems);
[[nodiscard]] std::string doctor_document(const std::vector<Finding>& findings);

[[nodiscard]] std::string coverage_document(const Coverage& coverage);
[[nodiscard]] std::string why_document(const Plan& plan,
                                       const std::vector<cache::Explanation>& explanations);
[[nodiscard]] std::string differences_document(const std::string& first,
                                               const std::string& second,
                                               const std::vector<std::string>& lines);
// For people, or as JSON: the facts of the entry and the fields of its key.
[[nodiscard]] std::string show_document(const std::string& path,
                                        const cache::Entry& entry,
                                        bool json);
[[nodiscard]] std::string gc_document(const cache::GcResult& result);
[[nodiscard]] std::string stats_document(const std::string& root,
                                         const std::vector<cache::Statistic>& lines);

// One signature of `kiln run`: examined, or an error in its place.
struct RunEntry {
  std::string signature;
  verify::Examination examination;
  std::string error_code;  // empty: examined
  std::string error;
};
struct RunReport {
  std::string device;
  std::string arch;
  std::string untimed;  // why nothing was timed; empty when it was
  std::vector<RunEntry> entries;
};
[[nodiscard]] std::string run_document(const RunReport& report);

// What `kiln tune` measured.
struct TuneEntry {
  std::string name;
  std::string tile;
  std::string failure;               // why it was not measured; empty: it was
  std::vector<double> samples_us{};  // a round
  double microseconds = 0;           // their median
};
struct TuneReport {
  std::string device;
  std::string arch;
  std::string signature;
  std::int64_t rows = 0;
  std::string groups{};
  double planners_us = 0;
  double noise = 0;                  // between two measurements of the planner's, a share
  std::string winner{};              // empty: nothing beat the planner's
  std::string stored{};              // the file it was kept in
  std::vector<TuneEntry> entries{};  // fastest first
};
[[nodiscard]] std::string tune_document(const TuneReport& report);

}  // namespace kiln::cli
