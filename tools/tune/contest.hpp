// Candidates of one signature against the planner's kernel: compiled, checked, measured side by
// side.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kiln/service.hpp>

#include "src/cuda/driver.hpp"
#include "tools/documents.hpp"
#include "tools/verify/groups.hpp"
#include "tools/verify/timing.hpp"
#include "tools/verify/workload.hpp"

namespace kiln::cli {

inline constexpr const char* kPlanners = "the planner's";

// A kernel to measure.
struct Subject {
  TuneEntry entry;
  std::unique_ptr<Service> service;
  std::optional<Prepared> prepared;  // absent: entry.failure says why
  std::optional<Launch> launch;
};

// An empty name: the planner's.
[[nodiscard]] Subject make_subject(const std::string& name, const Signature& signature, int device);
// Right, and with the bits of the first: one that is not is left out of the timing.
void check(std::vector<Subject>& subjects,
           const Driver& driver,
           const Signature& signature,
           const std::optional<verify::Groups>& groups,
           std::uint64_t seed);
// Rounds over all subjects, each in an order of its own.
void measure(std::vector<Subject>& subjects,
             verify::Timer& timer,
             const verify::Workload& workload,
             int rounds,
             std::uint64_t seed);
// Fills in the entries and the winner: the fastest, when it beats the planner's, which the first
// two subjects are, by more than two measurements of that differ.
void judge(TuneReport& report, const std::vector<Subject>& subjects);

}  // namespace kiln::cli
