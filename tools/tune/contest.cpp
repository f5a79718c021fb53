// Compiling, checking and timing candidates.
// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/contest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/family.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"
#include "tools/verify/case.hpp"
#include "tools/verify/device.hpp"
#include "tools/verify/device_case.hpp"

namespace kiln::cli {
namespace {

// Rows of the data that every candidate must be right on. Of a product with groups a host computes
// few; else enough that a CTA goes through several steps of several rows of several blocks, within
// what a host computes in seconds.
std::int64_t check_rows(const Signature& signature) {
  constexpr std::int64_t kOfGroups = 517, kLeast = 517, kMost = 1 << 18;
  constexpr std::int64_t kBytes = 64'000'000;
  const Family& family = find_family(signature.op);
  if (family.grouped_problem != nullptr) return kOfGroups;
  const std::int64_t row_bytes =
      family.problem(signature, 2).floor_bytes - family.problem(signature, 1).floor_bytes;
  return std::clamp(kBytes / std::max<std::int64_t>(row_bytes, 1), kLeast, kMost);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Subject make_subject(const std::string& name, const Signature& signature, int device) {
  Subject out;
  out.entry.name = name.empty() ? kPlanners : name;
  Options options = service_options();
  options.policy.tuning_file.clear();
  options.policy.candidate = name;
  out.service = std::make_unique<Service>(std::move(options));
  try {
    out.prepared = out.service->prepare(signature, out.service->device(device));
    const Plan& plan = out.prepared->plan();
    out.entry.tile = plan.stages.front().tile;
    if (plan.route != Route::fused) {
      out.entry.failure = fmt::format("takes the composed route: {}", plan.fallback->detail);
      out.prepared.reset();
    }
  } catch (const Error& error) {
    out.entry.failure = error.detail;
  }
  return out;
}

void check(std::vector<Subject>& subjects,
           const Driver& driver,
           const Signature& signature,
           const std::optional<verify::Groups>& groups,
           std::uint64_t seed) {
  std::vector<std::int64_t> sizes;
  const std::int64_t rows = check_rows(signature);
  if (groups) {
    // Few enough that a host holds their reference.
    sizes = (groups->given() ? verify::Groups::parse("3:skewed")
                             : groups->with_count(std::min<std::int64_t>(groups->count(), 4)))
                .sizes(rows, seed);
  }
  verify::Case host(signature, {rows, seed, {}, std::move(sizes)});
  const verify::Stream stream(driver);
  verify::DeviceCase device_case(driver, host);
  std::optional<verify::Bits> first;
  for (Subject& subject : subjects) {
    if (!subject.prepared) continue;
    const verify::Verdict verdict = run_and_check(device_case, *subject.prepared, stream);
    if (!verdict.passed()) {
      subject.entry.failure = verdict.failures();
    } else if (!first) {
      first = verdict.bits;
    } else {
      subject.entry.failure = verify::first_difference(*first, verdict.bits);
    }
    if (!subject.entry.failure.empty()) subject.prepared.reset();
  }
}

void measure(std::vector<Subject>& subjects,
             verify::Timer& timer,
             const verify::Workload& workload,
             int rounds,
             std::uint64_t seed) {
  for (Subject& subject : subjects) {
    if (subject.prepared) subject.launch = subject.prepared->bind(workload.arguments());
  }
  std::vector<std::size_t> order(subjects.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  Progress progress(order.size() * static_cast<std::size_t>(rounds));
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      Subject& subject = subjects[i];
      progress.advance(subject.entry.name);
      if (!subject.launch) continue;
      const verify::Timing timing =
          timer.measure([&](CUstream_st* stream) { subject.launch->run(stream); },
                        workload.problem().floor_bytes,
                        {.warm_up = 1, .repetitions = 7});
      subject.entry.samples_us.push_back(timing.microseconds);
    }
  }
  for (Subject& subject : subjects) {
    if (!subject.entry.samples_us.empty())
      subject.entry.microseconds = median(subject.entry.samples_us);
  }
}

void judge(TuneReport& report, const std::vector<Subject>& subjects) {
  const double first = subjects[0].entry.microseconds, again = subjects[1].entry.microseconds;
  report.planners_us = std::min(first, again);
  report.noise = std::abs(first - again) / report.planners_us;
  constexpr double kLeastGain = 0.01;
  double bar = report.planners_us / (1 + std::max(kLeastGain, 2 * report.noise));
  for (std::size_t i = 2; i < subjects.size(); ++i) {
    const TuneEntry& entry = subjects[i].entry;
    if (!entry.failure.empty() || entry.microseconds >= bar) continue;
    bar = entry.microseconds;
    report.winner = entry.name;
  }
  for (const Subject& subject : subjects) report.entries.push_back(subject.entry);
  std::stable_sort(
      report.entries.begin(), report.entries.end(), [](const TuneEntry& a, const TuneEntry& b) {
        return a.failure.empty() && (!b.failure.empty() || a.microseconds < b.microseconds);
      });
}

}  // namespace kiln::cli
