// How C++ handles and tensors cross into Python.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <kiln/service.hpp>

#include "python/src/process_bound.hpp"

namespace kiln::python {

using PyService = ProcessBound<Service>;
using PyPrepared = ProcessBound<Prepared>;

// Threads take turns: a Launch is packed and run as one step, without the interpreter's lock.
struct SharedLaunch {
  Launch launch;
  std::mutex mutex{};

  explicit SharedLaunch(Launch own) : launch(std::move(own)) {}
};
using PyLaunch = ProcessBound<SharedLaunch>;

// Name, address, shape, strides in elements, type ("bf16"), ordinal of the device (-1: host
// memory). A number has type "number", and the bits of its double as the address.
using TensorTuple = std::tuple<std::string,
                               std::uintptr_t,
                               std::vector<std::int64_t>,
                               std::vector<std::int64_t>,
                               std::string,
                               int>;
// Address and bytes.
using MemoryTuple = std::pair<std::uintptr_t, std::int64_t>;

// Arguments whose names point into `tensors`. Throws Error{invalid_argument} for a tensor that is
// not on the device, has an unknown type or too many dimensions.
[[nodiscard]] Arguments arguments_of(const std::vector<TensorTuple>& tensors, int ordinal);

[[nodiscard]] PyLaunch bind_launch(const PyPrepared& prepared,
                                   const std::vector<TensorTuple>& tensors,
                                   const std::optional<MemoryTuple>& workspace,
                                   int sm_limit);

}  // namespace kiln::python
