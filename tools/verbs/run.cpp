// `kiln run`: kernels on random data, checked against the double-precision reference, repeated and
// timed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/documents.hpp"
#include "tools/exit_code.hpp"
#include "tools/recipe.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"
#include "tools/verify/device.hpp"
#include "tools/verify/examine.hpp"
#include "tools/verify/random.hpp"

namespace kiln::cli {
namespace {

// Prime, so that no tile divides it; enough for several row blocks.
constexpr std::int64_t kCheckRows = 1031;

// A recipe's bad lines are said on stderr and counted in `faults`.
std::vector<Signature> wanted(const RunOptions& options, int& faults) {
  std::vector<Signature> signatures;
  std::set<Signature> seen;
  if (!options.signature.empty()) signatures.push_back(Signature::parse(options.signature));
  for (const std::string& path : options.recipes) {
    const Recipe recipe = read_recipe(path);
    for (const RecipeProblem& problem : recipe.problems) {
      remark(fmt::format("kiln: {}, line {}: {}", recipe.name, problem.line, problem.detail));
      ++faults;
    }
    for (const RecipeEntry& entry : recipe.entries) {
      if (seen.insert(entry.signature).second) signatures.push_back(entry.signature);
    }
  }
  return signatures;
}

// Everything the signatures share on one device.
struct Bench {
  Bench(const RunOptions& options, Options given)
      : automatic(with_route(
            given, options.route == "composed" ? RouteChoice::composed : RouteChoice::automatic)),
        composed(with_route(given, RouteChoice::composed)),
        device(automatic.device(options.device)),
        driver(Driver::load()),
        current(driver, options.device) {
    if (options.no_time) {
      untimed = "--no-time";
      return;
    }
    try {
      timer =
          std::make_unique<verify::Timer>(driver, device.arch, given.policy, given.nvrtc_folders);
    } catch (const Error& error) {
      untimed = error.detail;
    }
  }

  static Options with_route(Options options, RouteChoice route) {
    options.route = route;
    return options;
  }

  Service automatic;
  Service composed;
  Device device;
  Driver driver;
  verify::CurrentDevice current;
  std::unique_ptr<verify::Timer> timer;
  std::string untimed;
};

verify::ExamineOptions examine_options(const RunOptions& options,
                                       const Signature& signature,
                                       std::uint64_t seed) {
  verify::ExamineOptions result;
  result.check_rows = options.check_rows.value_or(options.rows.value_or(kCheckRows));
  result.time_rows = options.rows.value_or(verify::rows_worth_timing(signature));
  if (!options.groups.empty()) {
    result.groups = verify::Groups::parse(options.groups);
    if (result.groups->given()) {
      const std::vector<std::int64_t> sizes = result.groups->sizes(0, 0);
      result.check_rows = result.time_rows =
          std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    }
  }
  result.seed = seed;
  result.repeats = options.repeat;
  result.layout = {options.extra_stride, options.misalign};
  return result;
}

RunEntry examine_one(Bench& bench,
                     const RunOptions& options,
                     const Signature& signature,
                     std::uint64_t seed) {
  RunEntry entry;
  entry.signature = signature.text();
  try {
    Prepared prepared = bench.automatic.prepare(signature, bench.device);
    verify::Subjects subjects{bench.driver, prepared, std::nullopt, bench.timer.get()};
    if (prepared.plan().route == Route::fused)
      subjects.composed = bench.composed.prepare(signature, bench.device);
    entry.examination = verify::examine(subjects, examine_options(options, signature, seed));
  } catch (const Error& error) {
    entry.error_code = to_string(error.code);
    entry.error = error.detail;
  }
  return entry;
}

bool passed(const RunEntry& entry) {
  return entry.error_code.empty() && entry.examination.passed();
}

// "fused", or "composed (unsupported_size)"
std::string route_text(const Plan& plan) {
  if (!plan.fallback) return std::string(to_string(plan.route));
  return fmt::format("{} ({})", to_string(plan.route), to_string(plan.fallback->reason));
}

std::string bit_text(const verify::Examination& examination) {
  const bool same =
      std::all_of(examination.bit_checks.begin(),
                  examination.bit_checks.end(),
                  [](const verify::BitCheck& check) { return check.difference.empty(); });
  return same ? "equal" : "DIFFER";
}

std::string as_table(const RunReport& report, bool colour) {
  Table table({{"signature"},
               {"route"},
               {"rows checked", true},
               {"error/bound", true},
               {"bits"},
               {"rows timed", true},
               {"us", true},
               {"GB/s", true},
               {"TFLOPS", true},
               {"of a copy", true},
               {"result"}});
  for (const RunEntry& entry : report.entries) {
    const verify::Examination& examination = entry.examination;
    const bool examined = entry.error_code.empty();
    const auto number = [&](const char* format, double value) {
      return examination.timing ? fmt::format(fmt::runtime(format), value) : std::string("-");
    };
    const verify::Timing timing = examination.timing.value_or(verify::Timing{});
    table.add(
        {entry.signature,
         examined ? route_text(examination.plan) : "-",
         examined ? fmt::to_string(examination.options.check_rows) : "-",
         examined ? fmt::format("{:.3f}", examination.worst_ratio()) : "-",
         examined ? bit_text(examination) : "-",
         examination.timing ? fmt::to_string(examination.options.time_rows) : "-",
         number("{:.1f}", timing.microseconds),
         number("{:.0f}", timing.gigabytes_per_second),
         number("{:.1f}", examination.timed_flops / timing.microseconds * 1e-6),
         number("{:.2f}", timing.ratio_to_copy),
         passed(entry) ? Table::Cell("right", Colour::green) : Table::Cell("WRONG", Colour::red)});
  }
  return table.text(colour);
}

void say_failures(const RunEntry& entry) {
  if (!entry.error_code.empty())
    remark(fmt::format("kiln: {}: {}: {}", entry.signature, entry.error_code, entry.error));
  for (const std::string& failure : entry.examination.failures) {
    remark(fmt::format("kiln: {}: {}", entry.signature, failure));
  }
}

}  // namespace

int run(const RunOptions& options) {
  int faults = 0;
  const std::vector<Signature> signatures = wanted(options, faults);
  const std::uint64_t seed = options.seed.value_or(verify::fresh_seed());
  Options given = service_options();
  given.policy.candidate = options.candidate;
  Bench bench(options, std::move(given));
  remark(fmt::format("kiln: {} ({}), seed {}", bench.device.name, bench.device.arch.text(), seed));
  RunReport report{bench.device.name, bench.device.arch.text(), bench.untimed, {}};
  {
    Progress progress(signatures.size());
    for (const Signature& signature : signatures) {
      report.entries.push_back(examine_one(bench, options, signature, seed));
      progress.advance(signature.text());
    }
  }
  for (const RunEntry& entry : report.entries) {
    say_failures(entry);
    const auto& groups = entry.examination.options.groups;
    if (groups && entry.examination.checked_groups < groups->count()) {
      remark(fmt::format(
          "kiln: {}: checked with {} groups, since a host cannot hold the reference of {}",
          entry.signature,
          entry.examination.checked_groups,
          groups->count()));
    }
  }
  if (!bench.untimed.empty() && !options.no_time)
    remark(fmt::format("kiln: not timed: {}", bench.untimed));
  print(options.json ? run_document(report) : as_table(report, stdout_takes_colour()));
  const bool right =
      faults == 0 && std::all_of(report.entries.begin(), report.entries.end(), passed);
  return right ? kDone : kFailed;
}

}  // namespace kiln::cli
