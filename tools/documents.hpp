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

}  // namespace kiln::cli
