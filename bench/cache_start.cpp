// Starting processes and asking them when they had their cubin.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cache_start.hpp"

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kiln/rms_norm_backward.hpp>
#include <kiln/service.hpp>

namespace kiln {
namespace {

std::int64_t monotonic_ns() {
  struct timespec now {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// When a child was in main, and when it had its cubin: CLOCK_MONOTONIC, ns, the same for all
// processes.
struct Moments {
  std::int64_t main = 0;
  std::int64_t cubin = 0;
};

// The child's moments, after it has ended; nothing when it failed.
std::optional<Moments> start_one(char* const* arguments, char* const* environment) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  pid_t child = 0;
  int status = 0;
  const bool started =
      ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments, environment) == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  Moments moments;
  const bool ended = started && ::waitpid(child, &status, 0) == child && status == 0 &&
                     ::read(pipe[0], &moments, sizeof moments) == sizeof moments;
  ::close(pipe[0]);
  return ended ? std::optional(moments) : std::nullopt;
}

// The time is from before the process is made to when it has its cubin; beside it, how much of that
// was before main, and how long it took to its end.
void start_processes(benchmark::State& state, const std::vector<std::string>& variables) {
  std::vector<char*> environment;
  for (const std::string& variable : variables)
    environment.push_back(const_cast<char*>(variable.c_str()));
  environment.push_back(nullptr);
  std::string self = "/proc/self/exe";
  std::string mode = "--child";
  std::array<char*, 3> arguments = {self.data(), mode.data(), nullptr};
  double to_main = 0;
  double to_end = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const std::int64_t start = monotonic_ns();
    const std::optional<Moments> moments = start_one(arguments.data(), environment.data());
    if (!moments) {
      state.SkipWithError("the process did not find its kernel");
      return;
    }
    state.SetIterationTime(static_cast<double>(moments->cubin - start) * 1e-9);
    to_main += static_cast<double>(moments->main - start) * 1e-6;
    to_end += static_cast<double>(monotonic_ns() - start) * 1e-6;
  }
  state.counters["to_main_ms"] = benchmark::Counter(to_main, benchmark::Counter::kAvgIterations);
  state.counters["to_end_ms"] = benchmark::Counter(to_end, benchmark::Counter::kAvgIterations);
}

}  // namespace

int start_as_child() {
  Moments moments;
  moments.main = monotonic_ns();
  Service service({.policy = Policy::from_env()});
  const Prepared ready =
      service.prepare(RmsNormBackward{.n = 4096}.signature(), Arch::parse("sm_90a"));
  moments.cubin = monotonic_ns();
  if (::write(STDOUT_FILENO, &moments, sizeof moments) != sizeof moments) return 1;
  return ready.plan().stages.front().origin == Origin::cache ? 0 : 1;
}

void add_start(const char* name, const std::string& root, const std::string& more) {
  std::vector<std::string> variables = {"KILN_CACHE_DIR=" + root, "KILN_LOG=off", more};
  if (const char* nvrtc = std::getenv("KILN_NVRTC"))
    variables.push_back(std::string("KILN_NVRTC=") + nvrtc);
  benchmark::RegisterBenchmark(
      name, [variables](benchmark::State& state) { start_processes(state, variables); })
      ->Repetitions(kCacheRepetitions)
      ->ReportAggregatesOnly()
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace kiln
