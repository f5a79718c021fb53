// What became of one (signature, architecture) pair: the value that workers send back and reports
// are made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/service.hpp>
#include <kiln/signature.hpp>

namespace kiln::cli {

struct Job {
  Signature signature;
  Arch arch;
};

// One kernel of the plan.
struct KernelRow {
  std::string tile;
  int stages = 1;
  std::int64_t smem_bytes = 0;
  int registers = -1;
  double compile_ms = 0;
  std::string digest;
  std::string origin;
};

struct Outcome {
  std::size_t job = 0;
  std::string signature;
  std::string arch;
  std::string error_code;  // empty: it worked
  std::string error;
  std::string route;
  std::string reason;  // why composed; id
  std::string reason_detail;
  std::vector<KernelRow> kernels;
  double milliseconds = 0;    // of the whole prepare
  bool nvrtc_loaded = false;  // in the process that did it, so far
  std::vector<std::string> warnings;
  std::string plan_json;

  [[nodiscard]] bool failed() const noexcept { return !error_code.empty(); }
  [[nodiscard]] bool compiled() const noexcept;
};

// Does the job; whatever goes wrong is in the outcome.
[[nodiscard]] Outcome do_job(Service& service, const Job& job, std::size_t index) noexcept;

// The wire form between worker and parent, without the newline.
[[nodiscard]] std::string to_line(const Outcome& outcome);
// Throws Error{internal} for anything to_line did not make.
[[nodiscard]] Outcome from_line(std::string_view line);

}  // namespace kiln::cli
