// Checking, repeating and timing one prepared kernel.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/examine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tools/verify/case.hpp"
#include "tools/verify/device_case.hpp"
#include "tools/verify/workload.hpp"

namespace kiln::verify {
namespace {

void add_failures(Examination& examination, const std::string& what, const Verdict& verdict) {
  if (!verdict.passed()) examination.failures.push_back(what + ": " + verdict.failures());
}

void add_bit_check(Examination& examination, std::string what, std::string difference) {
  if (!difference.empty()) {
    examination.failures.push_back(fmt::format("{} gave other bits: {}", what, difference));
  }
  examination.bit_checks.push_back({std::move(what), std::move(difference)});
}

void check_bits(Examination& examination,
                const Subjects& subjects,
                DeviceCase& device_case,
                const Stream& stream,
                const Bits& first) {
  std::string difference;
  for (int i = 0; i < examination.options.repeats && difference.empty(); ++i) {
    device_case.reset();
    device_case.run(stream);
    difference = first_difference(first, device_case.bits());
  }
  if (examination.options.repeats > 0) {
    add_bit_check(examination,
                  fmt::format("{} more runs", examination.options.repeats),
                  std::move(difference));
  }
  const int half = std::max(1, subjects.prepared.device().sm_count / 2);
  const Verdict halved = run_and_check(device_case, subjects.prepared, stream, half);
  add_failures(examination, fmt::format("on {} SMs", half), halved);
  add_bit_check(examination, fmt::format("{} SMs", half), first_difference(first, halved.bits));
  if (!subjects.composed) return;
  const Verdict composed = run_and_check(device_case, *subjects.composed, stream);
  add_failures(examination, "the composed route", composed);
  add_bit_check(examination, "the composed route", first_difference(first, composed.bits));
}

std::vector<std::int64_t> sizes_of(const ExamineOptions& options, std::int64_t rows) {
  return options.groups ? options.groups->sizes(rows, options.seed) : std::vector<std::int64_t>{};
}

std::int64_t elements_of(const Problem& problem) {
  std::int64_t all = 0;
  for (const TensorSpec& tensor : problem.tensors) {
    std::int64_t size = 1;
    for (const std::int64_t extent : tensor.shape) size *= extent;
    all += size;
  }
  return all;
}

// Half as many groups, and half again, until their double-precision reference takes 4 GB or less.
std::vector<std::int64_t> check_sizes(const Signature& signature, const ExamineOptions& options) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 28;
  if (!options.groups) return {};
  for (std::int64_t count = options.groups->count();; count = (count + 1) / 2) {
    std::vector<std::int64_t> sizes =
        options.groups->with_count(count).sizes(options.check_rows, options.seed);
    if (count == 1 || options.groups->given() ||
        elements_of(make_problem(signature, options.check_rows, sizes)) <= kMostElements)
      return sizes;
  }
}

void time_it(Examination& examination, const Subjects& subjects) {
  const Workload workload(subjects.driver,
                          examination.plan.signature,
                          examination.options.time_rows,
                          examination.options.seed,
                          sizes_of(examination.options, examination.options.time_rows));
  const Launch launch = subjects.prepared.bind(workload.arguments());
  examination.timed_bytes = workload.problem().floor_bytes;
  examination.timed_flops = workload.problem().flops;
  examination.timing = subjects.timer->measure([&](CUstream_st* stream) { launch.run(stream); },
                                               examination.timed_bytes);
}

}  // namespace

double Examination::worst_ratio() const noexcept {
  double worst = 0;
  for (const TensorCheck& check : checks) worst = std::max(worst, check.worst_ratio);
  return worst;
}

Examination examine(const Subjects& subjects, const ExamineOptions& options) {
  Examination examination;
  examination.plan = subjects.prepared.plan();
  examination.options = options;
  {
    std::vector<std::int64_t> sizes = check_sizes(examination.plan.signature, options);
    examination.checked_groups = static_cast<std::int64_t>(sizes.size());
    Case host(examination.plan.signature,
              {options.check_rows, options.seed, options.layout, std::move(sizes)});
    const Stream stream(subjects.driver);
    DeviceCase device_case(subjects.driver, host);
    const Verdict verdict = run_and_check(device_case, subjects.prepared, stream);
    examination.checks = verdict.checks;
    add_failures(examination, "against the reference", verdict);
    check_bits(examination, subjects, device_case, stream, verdict.bits);
  }
  if (subjects.timer != nullptr && options.time_rows > 0) time_it(examination, subjects);
  return examination;
}

std::int64_t rows_worth_timing(const Signature& signature) {
  constexpr std::int64_t kBytes = 400'000'000;
  constexpr std::int64_t kProbe = 1024;
  const Family& family = find_family(signature.op);
  const std::int64_t slope =
      family.problem(signature, kProbe).floor_bytes - family.problem(signature, 0).floor_bytes;
  const double wanted =
      static_cast<double>(kBytes) * kProbe / static_cast<double>(std::max<std::int64_t>(slope, 1));
  std::int64_t rows = 1;
  // The power of two nearest in ratio: below wanted / sqrt(2) doubling gets closer.
  while (static_cast<double>(rows) * 1.4142 < wanted && rows < (std::int64_t{1} << 30)) rows *= 2;
  return rows;
}

}  // namespace kiln::verify
