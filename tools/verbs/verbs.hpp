// The verbs of the command line: their options, and the functions that do them. Each returns an
// exit code and may throw Error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kiln::cli {

struct WarmOptions {
  std::shared_ptr<const std::vector<std::string>> ops;  // files, for worker processes
  std::vector<std::string> recipes;
  std::vector<std::string> signatures;
  std::vector<std::string> archs;        // empty: native
  int jobs = 0;                          // 0: as many as there are cores
  int time_limit_s = 600;                // of one kernel in a worker process
  std::int64_t memory_limit_mb = 16384;  // address space of a worker process; 0: none
  std::string candidate;                 // empty: the planner's, or the tuned one
  std::string pack;                      // also write this pack; empty: none
  bool dry_run = false;                  // say what would be compiled
  bool summary = false;                  // leave out the table
  bool json_lines = false;               // one JSON document a line, while it runs
  bool json = false;
};

struct PlanOptions {
  std::string signature;
  std::string arch;       // empty: native
  std::string candidate;  // empty: the planner's, or the tuned one
  int stage = 0;          // emit
  bool json = false;
};

struct CacheOptions {
  bool repair = false;               // verify
  std::vector<std::string> recipes;  // doctor: how much of these is in the cache
  std::vector<std::string> archs;    // doctor
  bool json = false;
};

struct WhyOptions {
  std::string first;
  std::string second;  // empty: why `first` hits or misses
  std::string arch;
  bool json = false;
};

struct PackOptions {
  std::string file;
  std::vector<std::string> recipes;  // pack: of these only; with none of both, everything
  std::vector<std::string> signatures;
  std::vector<std::string> archs;
  bool require_signature = false;  // unpack
  bool json = false;
};

struct SignOptions {
  std::string file;
  std::string key;
  bool json = false;
};

struct GcVerbOptions {
  std::optional<std::int64_t> max_bytes;
  std::optional<int> max_days;
  bool dry_run = false;
  bool json = false;
};

struct ClearOptions {
  bool yes = false;
  bool json = false;
};

struct StatsOptions {
  bool zero = false;
  bool json = false;
};

struct RunOptions {
  std::string signature;
  std::vector<std::string> recipes;
  std::optional<std::int64_t> rows;        // absent: a few to check, many to time
  std::optional<std::int64_t> check_rows;  // absent: rows
  std::optional<std::uint64_t> seed;
  std::string groups;  // as verify::Groups reads them; empty: the family's own
  std::string route = "auto";
  std::string candidate;  // empty: the planner's, or the tuned one
  int device = 0;
  int repeat = 20;
  std::int64_t extra_stride = 0;
  std::int64_t misalign = 0;
  bool no_time = false;
  bool json = false;
};

struct TuneOptions {
  std::string signature;
  std::optional<std::int64_t> rows;     // absent: many
  std::string groups;                   // as verify::Groups reads them; empty: the family's own
  std::vector<std::string> candidates;  // empty: all
  std::optional<std::uint64_t> seed;
  std::string store;  // a file of choices, made or added to; empty: nothing is kept
  int rounds = 5;
  int device = 0;
  bool json = false;
};

[[nodiscard]] int warm(const WarmOptions& options);
[[nodiscard]] int explain(const PlanOptions& options);
[[nodiscard]] int emit(const PlanOptions& options);
[[nodiscard]] int list(const CacheOptions& options);
[[nodiscard]] int verify_cache(const CacheOptions& options);
[[nodiscard]] int show(const WhyOptions& options);
[[nodiscard]] int why(const WhyOptions& options);
[[nodiscard]] int pack(const PackOptions& options);
[[nodiscard]] int unpack(const PackOptions& options);
[[nodiscard]] int sign(const SignOptions& options);
[[nodiscard]] int keygen(const SignOptions& options);
[[nodiscard]] int trust(const SignOptions& options);
[[nodiscard]] int gc(const GcVerbOptions& options);
[[nodiscard]] int clear(const ClearOptions& options);
[[nodiscard]] int stats(const StatsOptions& options);
[[nodiscard]] int run(const RunOptions& options);
[[nodiscard]] int tune(const TuneOptions& options);
[[nodiscard]] int doctor(const CacheOptions& options);
// Hidden: does jobs that arrive on the socket it was started with, for `warm`.
[[nodiscard]] int worker(const std::string& candidate);

}  // namespace kiln::cli
