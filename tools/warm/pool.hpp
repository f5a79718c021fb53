// Worker processes for warming: NVRTC's front end is serialised, so threads do not scale, and a
// process contains a crash of the compiler.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/warm/outcome.hpp"

namespace kiln::cli {

enum class PoolResult {
  finished,     // every job has an outcome
  interrupted,  // by SIGINT or SIGTERM; what is done is cached
  unavailable,  // no process could be started; no job has an outcome
};

// What one worker may take.
struct WorkerLimits {
  std::chrono::seconds time{600};  // of the clock, a job
  std::int64_t memory_bytes = 0;   // address space; 0: no limit of ours
  std::vector<std::string> ops{};  // files of described ops, which it reads first
  std::string candidate{};         // what its policy forces; empty: nothing
};

// Runs the jobs in that many copies of this program, each with one job at a time and a private
// TMPDIR, and calls on_outcome in the order they end. A worker that dies or is over a limit fails
// the job it had, with what it wrote to stderr as the log, and is replaced.
[[nodiscard]] PoolResult run_in_processes(const std::vector<Job>& jobs,
                                          int processes,
                                          const WorkerLimits& limits,
                                          const std::function<void(Outcome)>& on_outcome);

// The signal that interrupted, to be raised again once the report is out; 0 when none did.
[[nodiscard]] int interrupting_signal() noexcept;

}  // namespace kiln::cli
