// The public face of the engine.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/service.hpp>

#include <utility>

#include "src/service/backends.hpp"
#include "src/service/engine.hpp"

namespace kiln {

struct Service::State {
  Engine engine;
};

Service::Service(Options options) : Service(std::move(options), Backends::real()) {}
Service::Service(Options options, Backends backends)
    : state_(new State{Engine(std::move(options), std::move(backends))}) {}
Service::~Service() = default;
Service::Service(Service&&) noexcept = default;
Service& Service::operator=(Service&&) noexcept = default;

Prepared Service::prepare(const Signature& signature, const Device& device) {
  return Prepared(state_->engine.prepare(signature, device));
}

Prepared Service::prepare(const Signature& signature, const Arch& arch) {
  return Prepared(state_->engine.prepare(signature, arch));
}

Plan Service::plan(const Signature& signature, const Arch& arch) const {
  return state_->engine.plan(signature, {limits_of(arch)});
}

std::string Service::source(const Signature& signature, const Arch& arch, std::size_t stage) const {
  return state_->engine.source(signature, arch, stage);
}

Device Service::device(int ordinal) { return state_->engine.devices().get(ordinal)->device(); }

int Service::device_count() { return state_->engine.devices().count(); }

Device Service::current_device() { return device(state_->engine.devices().current()); }

Statistics Service::statistics() const { return state_->engine.statistics(); }

const Options& Service::options() const noexcept { return state_->engine.options(); }

std::string_view version() noexcept { return KILN_VERSION; }

}  // namespace kiln
