// The verbs of the command line: their options, and the functions that do them. Each returns an
// exit code and may throw Error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln::cli {

struct WarmOptions {
  std::vector<std::string> recipes;
  std::vector<std::string> signatures;
  std::vector<std::string> archs;  // empty: native
  int jobs = 0;                    // 0: as many as there are cores
  bool summary = false;            // leave out the table
  bool json = false;
};

struct PlanOptions {
  std::string signature;
  std::string arch;  // empty: native
  int stage = 0;     // emit
  bool json = false;
};

struct CacheOptions {
  bool json = false;
};

struct RunOptions {
  std::string signature;
  std::vector<std::string> recipes;
  std::optional<std::int64_t> rows;        // absent: a few to check, many to time
  std::optional<std::int64_t> check_rows;  // absent: rows
  std::optional<std::uint64_t> seed;
  std::string route = "auto";
  int device = 0;
  int repeat = 20;
  std::int64_t extra_stride = 0;
  std::int64_t misalign = 0;
  bool no_time = false;
  bool json = false;
};

[[nodiscard]] int warm(const WarmOptions& options);
[[nodiscard]] int explain(const PlanOptions& options);
[[nodiscard]] int emit(const PlanOptions& options);
[[nodiscard]] int list(const CacheOptions& options);
[[nodiscard]] int verify_cache(const CacheOptions& options);
[[nodiscard]] int run(const RunOptions& options);
[[nodiscard]] int doctor(const CacheOptions& options);
// Hidden: does jobs that arrive on stdin, for `warm --jobs`.
[[nodiscard]] int worker();

}  // namespace kiln::cli
