// A prepared signature: its plan, and memory for its launches.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/service.hpp>

#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/service/prepared_state.hpp"

namespace kiln {

Prepared::Prepared(std::shared_ptr<const PreparedState> state) noexcept
    : state_(std::move(state)) {}

const Plan& Prepared::plan() const noexcept { return state_->plan; }

const Device& Prepared::device() const noexcept { return state_->device; }

Workspace Prepared::make_workspace() const {
  if (!state_->hardware) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("'{}' was prepared for {}, not for a device: there is no memory to allocate",
                    state_->plan.signature.text(),
                    state_->device.arch.text()));
  }
  const std::int64_t bytes = state_->plan.workspace_bytes;
  if (bytes == 0) return {};
  std::shared_ptr<void> owner = allocate(state_->hardware, bytes);
  void* data = owner.get();
  return {.data = data, .bytes = bytes, .owner = std::move(owner)};
}

}  // namespace kiln
