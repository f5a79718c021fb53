// Handing jobs to worker processes, one each, and collecting outcomes.
// SPDX-License-Identifier: Apache-2.0
#include "tools/warm/pool.hpp"

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>

#include <kiln/error.hpp>

#include "src/process/child.hpp"

namespace kiln::cli {
namespace {

// A signal may come between looking for one and poll; this is the longest it then goes unseen.
constexpr int kPollMilliseconds = 200;

// A signal handler may touch nothing else.
volatile std::sig_atomic_t caught_signal = 0;

void remember(int signal) { caught_signal = signal; }

// Catches SIGINT and SIGTERM while it lives, so that workers are ended and the report still comes.
// A signal that was ignored (nohup, a background job of a script) stays ignored.
class SignalGuard {
 public:
  SignalGuard() {
    catch_unless_ignored(SIGINT, interrupt_);
    catch_unless_ignored(SIGTERM, terminate_);
  }
  ~SignalGuard() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static void catch_unless_ignored(int signal, struct sigaction& before) {
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = remember;  // no SA_RESTART: poll must return
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }

  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

using Clock = std::chrono::steady_clock;

struct Slot {
  process::Child worker;
  std::optional<std::size_t> job;  // what it is doing
  Clock::time_point deadline;      // of that job
};

class Pool {
 public:
  Pool(const std::vector<Job>& jobs,
       const WorkerLimits& limits,
       const std::function<void(Outcome)>& on_outcome)
      : jobs_(jobs), limits_(limits), on_outcome_(on_outcome) {}

  PoolResult run(int processes) {
    for (int i = 0; i < processes; ++i) start_worker();
    if (slots_.empty()) return PoolResult::unavailable;
    while (done_ < jobs_.size()) {
      if (caught_signal != 0) return PoolResult::interrupted;
      if (slots_.empty() && !start_worker())
        fail_rest(fmt::format("no worker process can be started: {}", why_not_));
      wait();
      end_overdue();
    }
    return PoolResult::finished;
  }

 private:
  bool start_worker() {
    if (next_ >= jobs_.size()) return false;
    std::vector<std::string> arguments{"worker"};
    for (const std::string& file : limits_.ops) {
      arguments.emplace_back("--ops");
      arguments.push_back(file);
    }
    if (!limits_.candidate.empty()) {
      arguments.emplace_back("--candidate");
      arguments.push_back(limits_.candidate);
    }
    // /proc/self/exe rather than its target: it works for a program that was replaced or deleted
    // meanwhile.
    std::optional<process::Child> worker =
        process::Child::start({"/proc/self/exe", arguments, limits_.memory_bytes}, why_not_);
    if (!worker) return false;
    slots_.push_back({*std::move(worker), std::nullopt, {}});
    hand_out(slots_.back());
    return true;
  }

  // A send that fails shows as the socket's end in wait().
  void hand_out(Slot& slot) {
    slot.job.reset();
    if (next_ >= jobs_.size()) return;
    const Job& job = jobs_[next_];
    slot.job = next_++;
    slot.deadline = Clock::now() + limits_.time;
    (void)slot.worker.send(
        fmt::format("{} {} {}", *slot.job, job.arch.text(), job.signature.text()));
  }

  void wait() {
    std::vector<pollfd> polled;
    for (const Slot& slot : slots_) polled.push_back({slot.worker.socket(), POLLIN, 0});
    if (poll(polled.data(), polled.size(), kPollMilliseconds) <= 0) return;
    // Backwards: a slot may be removed.
    for (std::size_t i = polled.size(); i-- > 0;) {
      if (polled[i].revents != 0) listen_to(i);
    }
  }

  void listen_to(std::size_t index) {
    Slot& slot = slots_[index];
    const bool alive = slot.worker.receive();
    while (std::optional<std::string> message = slot.worker.next()) {
      Outcome outcome = from_line(*message);
      if (std::string log = slot.worker.take_log(); !log.empty())
        outcome.warnings.push_back(fmt::format("a worker wrote: {}", log));
      finish(std::move(outcome));
      hand_out(slot);
    }
    // Ctrl-C reaches the workers too; their jobs did not fail.
    if (alive || caught_signal != 0) return;
    lose(index, "died");
  }

  void end_overdue() {
    for (std::size_t i = slots_.size(); i-- > 0;) {
      if (!slots_[i].job || Clock::now() < slots_[i].deadline) continue;
      slots_[i].worker.kill();
      lose(i, fmt::format("took longer than {} s and was ended", limits_.time.count()));
    }
  }

  // The worker is gone or about to go; another takes its place.
  void lose(std::size_t index, std::string_view what) {
    process::Child worker = std::move(slots_[index].worker);
    const std::optional<std::size_t> lost = slots_[index].job;
    slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(index));
    const std::string how = worker.how_it_ended();
    const std::string log = worker.take_log();
    if (lost) {
      fail(*lost,
           fmt::format("the worker process that compiled it {}: {}{}{}",
                       what,
                       how,
                       log.empty() ? "" : "; it wrote: ",
                       log));
    }
    (void)start_worker();
  }

  void finish(Outcome outcome) {
    ++done_;
    on_outcome_(std::move(outcome));
  }

  void fail(std::size_t job, std::string why) {
    Outcome outcome;
    outcome.job = job;
    outcome.signature = jobs_[job].signature.text();
    outcome.arch = jobs_[job].arch.text();
    outcome.error_code = to_string(ErrorCode::compile_failed);
    outcome.error = std::move(why);
    finish(std::move(outcome));
  }

  void fail_rest(const std::string& why) {
    while (next_ < jobs_.size()) fail(next_++, why);
  }

  const std::vector<Job>& jobs_;
  const WorkerLimits limits_;
  const std::function<void(Outcome)>& on_outcome_;
  std::vector<Slot> slots_;
  std::string why_not_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
};

}  // namespace

PoolResult run_in_processes(const std::vector<Job>& jobs,
                            int processes,
                            const WorkerLimits& limits,
                            const std::function<void(Outcome)>& on_outcome) {
  const SignalGuard guard;
  const int useful = std::min<int>(processes, static_cast<int>(jobs.size()));
  return Pool(jobs, limits, on_outcome).run(useful);
}

int interrupting_signal() noexcept { return caught_signal; }

}  // namespace kiln::cli
