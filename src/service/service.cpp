// The public face of the engine.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/service.hpp>

#include <atomic>
#include <utility>

#include "src/service/backends.hpp"
#include "src/service/engine.hpp"
#include "src/service/fork_mark.hpp"

namespace kiln {

// A forked child gets an engine of its own: in the parent's, another thread may have held a lock or
// been building what would now never be ready. The inherited one is neither used nor destroyed.
struct Service::State {
  State(Options options, Backends given)
      : backends(std::move(given)), engine(new Engine(std::move(options), backends)) {}
  ~State() {
    if (!mark.forked()) delete engine.load();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Engine& current() {
    if (mark.forked() && mark.claim()) renew();
    return *engine.load(std::memory_order_acquire);
  }

  void renew() {
    try {
      const Engine& inherited = *engine.load();
      const bool nvrtc_was_loaded = inherited.statistics().nvrtc_loaded;
      engine.store(new Engine(
          inherited.options(),
          backends.after_fork ? backends.after_fork(backends, nvrtc_was_loaded) : backends));
    } catch (...) {
      mark.give_up();
      throw;
    }
    mark.settle();
  }

  const Backends backends;
  std::atomic<Engine*> engine;
  ForkMark mark;
};

Service::Service(Options options) : Service(std::move(options), Backends::real()) {}
Service::Service(Options options, Backends backends)
    : state_(new State(std::move(options), std::move(backends))) {}
Service::~Service() = default;
Service::Service(Service&&) noexcept = default;
Service& Service::operator=(Service&&) noexcept = default;

Prepared Service::prepare(const Signature& signature, const Device& device) {
  return Prepared(state_->current().prepare(signature, device));
}

Prepared Service::prepare(const Signature& signature, const Arch& arch) {
  return Prepared(state_->current().prepare(signature, arch));
}

Plan Service::plan(const Signature& signature, const Arch& arch) const {
  return state_->current().plan(signature, {limits_of(arch)});
}

std::vector<std::string> Service::candidates(const Signature& signature, const Arch& arch) const {
  return state_->current().candidates(signature, arch);
}

std::string Service::source(const Signature& signature, const Arch& arch, std::size_t stage) const {
  return state_->current().source(signature, arch, stage);
}

Device Service::device(int ordinal) { return state_->current().devices().get(ordinal)->device(); }

int Service::device_count() { return state_->current().devices().count(); }

Device Service::current_device() { return device(state_->current().devices().current()); }

Statistics Service::statistics() const { return state_->current().statistics(); }

const Options& Service::options() const noexcept { return state_->current().options(); }

std::string_view version() noexcept { return KILN_VERSION; }

}  // namespace kiln
