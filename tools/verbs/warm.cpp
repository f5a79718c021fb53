// `kiln warm`: compiles the kernels of recipes and signatures into the cache.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/documents.hpp"
#include "tools/exit_code.hpp"
#include "tools/keys.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"
#include "tools/warm/coverage.hpp"
#include "tools/warm/outcome.hpp"
#include "tools/warm/pool.hpp"
#include "tools/warm/report.hpp"
#include "tools/warm/request.hpp"

namespace kiln::cli {
namespace {

int process_count(int asked, std::size_t jobs) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return std::min(asked > 0 ? asked : cores, static_cast<int>(std::min<std::size_t>(jobs, 1024)));
}

class Warming {
 public:
  Warming(const std::vector<Job>& jobs, bool json_lines, WarmReport& report)
      : jobs_(jobs),
        report_(report),
        json_lines_(json_lines),
        progress_(jobs.size()),
        slots_(jobs.size()),
        done_(jobs.size(), false) {}

  void take(Outcome outcome) {
    for (const std::string& warning : outcome.warnings) warn(warning);
    if (outcome.failed()) {
      progress_.say(fmt::format("kiln: {} for {} failed: {}: {}",
                                outcome.signature,
                                outcome.arch,
                                outcome.error_code,
                                outcome.error));
    }
    progress_.advance(fmt::format("{} {}", outcome.arch, outcome.signature));
    ++count_;
    if (json_lines_) print(progress_line(outcome, {count_, jobs_.size(), seconds()}));
    const std::size_t job = outcome.job;
    slots_[job] = std::move(outcome);
    done_[job] = true;
  }

  void warn(const std::string& warning) {
    if (!warned_.insert(warning).second) return;
    report_.warnings.push_back(warning);
    progress_.say("kiln: warning: " + warning);
  }

  void in_this_process(Options options) {
    options.log = [this](LogLevel, std::string_view message) { warn(std::string(message)); };
    Service service(std::move(options));
    for (std::size_t i = 0; i < jobs_.size(); ++i) take(do_job(service, jobs_[i], i));
  }

  // What is done, in the order of the jobs.
  void finish() {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (done_[i]) report_.outcomes.push_back(std::move(slots_[i]));
    }
  }

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::vector<Job>& jobs_;
  WarmReport& report_;
  const bool json_lines_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::size_t count_ = 0;
  Progress progress_;
  std::vector<Outcome> slots_;
  std::vector<bool> done_;
  std::set<std::string> warned_;
};

// Each worker process reads them again.
void check_ops(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error)) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--ops {} is no regular file, and every worker process reads it: write "
                            "the description to one",
                            file));
  }
}

// False when it was interrupted.
bool do_jobs(const std::vector<Job>& jobs,
             const WarmOptions& options,
             const Options& given,
             WarmReport& report) {
  const int processes = process_count(options.jobs, jobs.size());
  Warming warming(jobs, options.json_lines, report);
  // One job too: a worker contains a crash and keeps the limits.
  PoolResult result = run_in_processes(jobs,
                                       processes,
                                       {.time = std::chrono::seconds(options.time_limit_s),
                                        .memory_bytes = options.memory_limit_mb << 20,
                                        .ops = *options.ops,
                                        .candidate = options.candidate},
                                       [&](Outcome outcome) { warming.take(std::move(outcome)); });
  report.processes = result == PoolResult::unavailable ? 1 : processes;
  if (result == PoolResult::unavailable) warming.in_this_process(given);
  warming.finish();
  report.seconds = warming.seconds();
  return result != PoolResult::interrupted;
}

// Says what a warm would do. A bad line makes it fail, a kernel that is missing does not.
int dry_run(const WarmOptions& options, const std::vector<Job>& jobs, Service& service) {
  cache::Store store(store_options(service.options().policy));
  const Coverage coverage = cover(jobs, service, store, false);
  if (options.json || options.json_lines) {
    print(coverage_document(coverage));
    return kDone;
  }
  if (!options.summary) {
    Table table({{"signature"}, {"arch"}, {"would be"}});
    for (const Covered& covered : coverage.jobs) {
      const bool missing = covered.standing == Standing::missing;
      table.add({covered.signature,
                 covered.arch,
                 std::string(missing ? "compiled" : to_string(covered.standing))});
    }
    print(table.text(stdout_takes_colour()));
  }
  print(fmt::format("{} kernels requested: {} cached, {} to compile, {} composed\n",
                    jobs.size(),
                    coverage.cached,
                    coverage.missing,
                    coverage.composed));
  return kDone;
}

void give_report(const WarmOptions& options, const WarmReport& report) {
  if (options.json) return print(report_json(report));
  if (options.json_lines) return print(summary_line(report));
  if (!options.summary) print(report_table(report, stdout_takes_colour()));
  print(report_summary(report));
}

}  // namespace

int warm(const WarmOptions& options) {
  Options given = service_options();
  given.policy.candidate = options.candidate;
  if (!options.dry_run) check_ops(*options.ops);
  WarmReport report;
  Requested request = requested(options.signatures, options.recipes);
  report.faults = request.faults;
  report.models = std::move(request.models);
  Service service(given);
  const std::vector<Job> jobs = jobs_of(request, options.archs, service);
  for (const RecipeFault& fault : report.faults) {
    remark(fmt::format("kiln: {}, line {}: {}", fault.recipe, fault.line, fault.detail));
  }
  if (options.dry_run) {
    const int code = dry_run(options, jobs, service);
    return report.faults.empty() ? code : kFailed;
  }
  if (given.policy.cache_dir.empty()) {
    remark(
        fmt::format("kiln: warning: nothing is kept on disk: {}", given.policy.cache_dir_reason));
  }
  const bool finished = do_jobs(jobs, options, given, report);
  give_report(options, report);
  if (!finished) {
    remark(fmt::format(
        "kiln: interrupted after {} of {}; the same command goes on where this one stopped",
        report.outcomes.size(),
        jobs.size()));
    // Whoever waits for this process learns how it ended.
    std::raise(interrupting_signal());
    return kFailed;
  }
  if (options.pack.empty()) return report.failed() ? kFailed : kDone;
  cache::Store store(store_options(given.policy));
  const Coverage coverage = cover(jobs, service, store, true);
  write_bundle(options.pack, coverage, request.name, !report.failed());
  if (coverage.missing > 0) {
    remark(fmt::format(
        "kiln: {} lacks {} kernels that are not in the cache", options.pack, coverage.missing));
  }
  return report.failed() || coverage.missing > 0 ? kFailed : kDone;
}

}  // namespace kiln::cli
