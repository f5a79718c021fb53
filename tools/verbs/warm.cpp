// `kiln warm`: compiles the kernels of recipes and signatures into the cache.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/exit_code.hpp"
#include "tools/recipe.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"
#include "tools/warm/outcome.hpp"
#include "tools/warm/pool.hpp"
#include "tools/warm/report.hpp"

namespace kiln::cli {
namespace {

// The requested signatures without repetitions, in order; bad lines and model names go into the
// report.
std::vector<Signature> requested(const WarmOptions& options, WarmReport& report) {
  std::vector<Signature> signatures;
  std::set<Signature> seen;
  const auto add = [&](const Signature& signature) {
    if (seen.insert(signature).second) signatures.push_back(signature);
  };
  for (const std::string& text : options.signatures) add(Signature::parse(text));
  for (const std::string& path : options.recipes) {
    const Recipe recipe = read_recipe(path);
    for (const RecipeProblem& problem : recipe.problems) {
      report.faults.push_back({recipe.name, problem.line, problem.detail});
    }
    for (const RecipeEntry& entry : recipe.entries) {
      add(entry.signature);
      if (!entry.model.empty()) report.models[entry.signature.text()].push_back(entry.model);
    }
  }
  return signatures;
}

int process_count(int asked, std::size_t jobs) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return std::min(asked > 0 ? asked : cores, static_cast<int>(std::min<std::size_t>(jobs, 1024)));
}

class Warming {
 public:
  Warming(const std::vector<Job>& jobs, WarmReport& report)
      : jobs_(jobs),
        report_(report),
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

 private:
  const std::vector<Job>& jobs_;
  WarmReport& report_;
  Progress progress_;
  std::vector<Outcome> slots_;
  std::vector<bool> done_;
  std::set<std::string> warned_;
};

// False when it was interrupted.
bool do_jobs(const std::vector<Job>& jobs,
             int processes,
             const Options& options,
             WarmReport& report) {
  const auto start = std::chrono::steady_clock::now();
  Warming warming(jobs, report);
  PoolResult result = PoolResult::unavailable;
  if (processes > 1) {
    result = run_in_processes(
        jobs, processes, [&](Outcome outcome) { warming.take(std::move(outcome)); });
  }
  report.processes = result == PoolResult::unavailable ? 1 : processes;
  if (result == PoolResult::unavailable) warming.in_this_process(options);
  warming.finish();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result != PoolResult::interrupted;
}

}  // namespace

int warm(const WarmOptions& options) {
  Options given = service_options();
  WarmReport report;
  const std::vector<Signature> signatures = requested(options, report);
  std::vector<Job> jobs;
  {
    Service service(given);
    for (const Arch& arch : resolve_archs(options.archs, service)) {
      for (const Signature& signature : signatures) jobs.push_back({signature, arch});
    }
  }
  for (const RecipeFault& fault : report.faults) {
    remark(fmt::format("kiln: {}, line {}: {}", fault.recipe, fault.line, fault.detail));
  }
  if (given.policy.cache_dir.empty()) {
    remark(
        fmt::format("kiln: warning: nothing is kept on disk: {}", given.policy.cache_dir_reason));
  }
  const bool finished = do_jobs(jobs, process_count(options.jobs, jobs.size()), given, report);
  if (options.json) {
    print(report_json(report));
  } else {
    if (!options.summary) print(report_table(report, stdout_takes_colour()));
    print(report_summary(report));
  }
  if (!finished) {
    remark(fmt::format(
        "kiln: interrupted after {} of {}; the same command goes on where this one stopped",
        report.outcomes.size(),
        jobs.size()));
    // Whoever waits for this process learns how it ended.
    std::raise(interrupting_signal());
    return kFailed;
  }
  return report.failed() ? kFailed : kDone;
}

}  // namespace kiln::cli
