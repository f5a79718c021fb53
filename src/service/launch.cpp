// Arguments packed into driver launches, and running them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>
#include <kiln/service.hpp>

#include "src/service/kept_arguments.hpp"
#include "src/service/packed_calls.hpp"
#include "src/service/prepared_state.hpp"

namespace kiln {
namespace {

constexpr std::uintptr_t kWorkspaceAlignment = 256;

[[noreturn]] void throw_launch_error(const Driver& driver,
                                     int result,
                                     const PreparedState& prepared,
                                     int stage) {
  driver.check(result,
               fmt::format("launching {} of '{}'",
                           prepared.plan.kernel(static_cast<std::size_t>(stage)).entry,
                           prepared.plan.signature.text())
                   .c_str());
  throw Error(ErrorCode::internal, "a failed launch was reported as a success");
}

void check_workspace(const Workspace& workspace, const PreparedState& prepared) {
  const std::int64_t needed = prepared.plan.workspace_bytes;
  if (workspace.bytes < needed) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the workspace for '{}' has {} bytes, {} are needed "
                            "(Prepared::make_workspace makes one)",
                            prepared.plan.signature.text(),
                            workspace.bytes,
                            needed));
  }
  if (needed == 0) return;
  const auto address = reinterpret_cast<std::uintptr_t>(workspace.data);
  if (address == 0 || address % kWorkspaceAlignment != 0) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the workspace for '{}' is at {}: it must be {}-byte aligned device memory",
                    prepared.plan.signature.text(),
                    fmt::ptr(workspace.data),
                    kWorkspaceAlignment));
  }
}

std::shared_ptr<void> adopt_counters(const Workspace& counters, const PreparedState& prepared) {
  const auto address = reinterpret_cast<std::uintptr_t>(counters.data);
  if (counters.bytes < kCounterBytes || address == 0 || address % kWorkspaceAlignment != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the counters for '{}' are {} bytes at {}: {} zeroed bytes of {}-byte "
                            "aligned device memory are needed",
                            prepared.plan.signature.text(),
                            counters.bytes,
                            fmt::ptr(counters.data),
                            kCounterBytes,
                            kWorkspaceAlignment));
  }
  return {counters.owner, counters.data};
}

}  // namespace

struct Launch::State {
  std::shared_ptr<const PreparedState> prepared;
  LaunchContext context;
  Workspace workspace;
  std::shared_ptr<void> counters;
  KeptArguments arguments;
  // Binding fills the idle one: a bind that throws leaves the other, which runs, as it was.
  std::array<PackedCalls, 2> packed;
  std::size_t active = 0;

  State(std::shared_ptr<const PreparedState> of,
        Workspace scratch,
        std::shared_ptr<void> zeroed,
        int sm_count)
      : prepared(std::move(of)), workspace(std::move(scratch)), counters(std::move(zeroed)) {
    context = {.sm_count = sm_count,
               .ctas_per_sm = prepared->ctas_per_sm,
               .clusters = prepared->clusters,
               .workspace = workspace.data,
               .workspace_bytes = workspace.bytes,
               .counters = counters.get()};
  }

  void bind(const Arguments& given) {
    if (!KeptArguments::fits(given)) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("a tensor's name is longer than {} characters", KeptArguments::kNameBytes));
    }
    packed[1 - active].pack(*prepared, given, context);
    arguments.keep(given);
    active = 1 - active;
  }
};

Launch::Launch() = default;
Launch::~Launch() = default;
Launch::Launch(Launch&&) noexcept = default;
Launch& Launch::operator=(Launch&&) noexcept = default;

namespace {

template <class State>
State& checked(const std::unique_ptr<State>& state) {
  if (!state)
    throw Error(ErrorCode::invalid_argument, "this Launch is empty: Prepared::bind makes one");
  return *state;
}

}  // namespace

void Launch::run(CUstream_st* stream) const {
  const State& state = checked(state_);
  const PackedCalls& packed = state.packed[state.active];
  const DeviceState& device = *state.prepared->hardware;
  const Driver& driver = device.driver();
  const ContextGuard guard(driver, device.context());
  for (std::size_t i = 0; i < static_cast<std::size_t>(packed.list.count); ++i) {
    const KernelCall& call = packed.list.calls[i];
    const int result = packed.launches[i].run(stream, call.parameters.data());
    if (result != 0) throw_launch_error(driver, result, *state.prepared, call.stage);
  }
}

void Launch::rebind(const Arguments& arguments) { checked(state_).bind(arguments); }

Launch Launch::clone() const {
  const State& state = checked(state_);
  Workspace workspace = Prepared(state.prepared).make_workspace();
  Launch copy;
  copy.state_ = std::make_unique<State>(state.prepared,
                                        std::move(workspace),
                                        allocate_zeroed(state.prepared->hardware, kCounterBytes),
                                        state.context.sm_count);
  copy.state_->bind(state.arguments.get());
  return copy;
}

int Launch::kernel_count() const noexcept {
  return state_ ? state_->packed[state_->active].list.count : 0;
}

Launch Prepared::bind(const Arguments& arguments, const BindOptions& options) const {
  if (!state_->hardware) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' was prepared for {}, not for a device: it cannot be bound",
                            state_->plan.signature.text(),
                            state_->device.arch.text()));
  }
  if (options.sm_limit < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("sm_limit is {}; 0 means every SM", options.sm_limit));
  }
  const int all = state_->device.sm_count;
  const int sm_count = options.sm_limit == 0 ? all : std::min(all, options.sm_limit);
  if (options.workspace) check_workspace(*options.workspace, *state_);
  Launch launch;
  launch.state_ = std::make_unique<Launch::State>(
      state_,
      options.workspace ? *options.workspace : make_workspace(),
      options.counters ? adopt_counters(*options.counters, *state_)
                       : allocate_zeroed(state_->hardware, kCounterBytes),
      sm_count);
  launch.state_->bind(arguments);
  return launch;
}

}  // namespace kiln
