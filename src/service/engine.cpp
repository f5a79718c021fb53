// The in-memory map in front of the line, and what else a service answers.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/engine.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/core/named_file.hpp"

namespace kiln {
namespace {

// Below zero, so that no ordinal is the same number.
int target_number(const Arch& arch) noexcept {
  return -1 - (arch.major * 10'000 + arch.minor * 256 + static_cast<unsigned char>(arch.suffix));
}

// What later callers get: the kernels come from this process's memory.
PreparedPointer from_memory(const PreparedPointer& first) {
  const auto embedded = [](const StagePlan& stage) { return stage.origin == Origin::embedded; };
  if (std::ranges::all_of(first->plan.stages, embedded)) return first;
  auto again = std::make_shared<PreparedState>(*first);
  for (StagePlan& stage : again->plan.stages) {
    if (embedded(stage)) continue;
    stage.origin = Origin::memory;
    stage.compile_ms = 0;
  }
  return again;
}

// Memory may be there at the next call; every other outcome stands for the life of the service.
bool may_pass(const Plan& plan) {
  return plan.fallback && plan.fallback->reason == FallbackReason::out_of_memory;
}

// Throws Error{invalid_policy}.
Tuning read_tuning(const std::string& path) {
  if (path.empty()) return {};
  const std::string place = "KILN_TUNING=" + path;
  constexpr std::size_t kLongest = std::size_t{64} << 20U;
  // Every process of a job reads it, so a pipe would serve the first alone.
  const NamedFile file = read_regular_file(path, kLongest);
  if (!file.problem.empty()) {
    throw Error(ErrorCode::invalid_policy,
                fmt::format("{} is no file of choices: {}; 'kiln tune SIGNATURE --store FILE' "
                            "writes one",
                            place,
                            file.problem));
  }
  return Tuning::parse(file.text, place);
}

}  // namespace

Engine::Engine(Options options, Backends backends)
    : options_(std::move(options)),
      backends_(std::move(backends)),
      log_(options_.log, options_.policy.log_level),
      tuning_(read_tuning(options_.policy.tuning_file)),
      toolchains_(options_.policy, options_.nvrtc_folders, backends_),
      headers_(backends_.embedded_files()),
      cubins_(options_, backends_, log_, toolchains_, counts_),
      devices_(backends_) {}

template <class MakeTarget>
PreparedPointer Engine::prepare_once(const Request& request, MakeTarget&& make_target) {
  PreparedPointer state;
  if (prepared_.peek(request, state)) {
    ++counts_.memory_hits;
    return state;
  }
  const Name name{request.signature, request.target};
  PreparedPointer first;
  auto [value, built] = prepared_.get(name, [&] {
    first = build(request.signature, make_target());
    return from_memory(first);
  });
  if (!built) {
    ++counts_.memory_hits;
    return std::move(value);
  }
  if (may_pass(first->plan)) prepared_.forget(name);
  return first;
}

PreparedPointer Engine::prepare(const Signature& signature, const Device& device) {
  if (device.ordinal < 0) {
    throw Error(
        ErrorCode::device_missing,
        fmt::format("there is no device {}; take one from Service::device", device.ordinal));
  }
  return prepare_once({signature, device.ordinal}, [&] {
    auto hardware = devices_.get(device.ordinal);
    return Target{hardware->limits(), hardware->known_arch(), hardware};
  });
}

PreparedPointer Engine::prepare(const Signature& signature, const Arch& arch) {
  return prepare_once({signature, target_number(arch)}, [&] { return Target{limits_of(arch)}; });
}

std::string Engine::source(const Signature& signature, const Arch& arch, std::size_t stage) const {
  const Plan planned = plan(signature, {limits_of(arch)});
  const bool embedded =
      stage < planned.stages.size() && planned.stages[stage].origin == Origin::embedded;
  if (embedded) {
    throw Error(ErrorCode::unavailable,
                fmt::format("'{}' takes the composed route on {}, which has no emitted source: {}",
                            signature.text(),
                            arch.text(),
                            planned.fallback->detail));
  }
  if (stage >= planned.stages.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the plan of '{}' has {} stages; there is no stage {}",
                            signature.text(),
                            planned.stages.size(),
                            stage));
  }
  return backends_.find_family(signature.op).emit(planned, stage).text;
}

Statistics Engine::statistics() const {
  return {.memory_hits = counts_.memory_hits,
          .cache_hits = counts_.cache_hits,
          .layer_hits = counts_.layer_hits,
          .compiles = counts_.compiles,
          .fallbacks = counts_.fallbacks,
          .nvrtc_loaded = toolchains_.loaded()};
}

}  // namespace kiln
