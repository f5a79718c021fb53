// Tensors that Python describes, as the C++ API's arguments.
// SPDX-License-Identifier: Apache-2.0
#include "python/src/handles.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "python/src/stream_capture.hpp"

namespace kiln::python {
namespace {

constexpr std::size_t kMaxRank = 4;

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} {}", name, what));
}

void check_device(const std::string& name, int device, int ordinal) {
  if (device == ordinal) return;
  if (device < 0) {
    refuse(name,
           fmt::format("is in host memory; move it to the GPU that the kernel was prepared for "
                       "(cuda:{})",
                       ordinal));
  }
  refuse(name, fmt::format("is on cuda:{}, the kernel was prepared for cuda:{}", device, ordinal));
}

Tensor tensor_of(const TensorTuple& given, int ordinal) {
  const auto& [name, address, shape, strides, type_name, device] = given;
  if (type_name == "number") return scalar(name, std::bit_cast<double>(std::uint64_t{address}));
  check_device(name, device, ordinal);
  const std::optional<DType> type = parse_dtype(type_name);
  if (!type) {
    refuse(name, fmt::format("has elements of type {}; known are f32, f16, bf16, i32", type_name));
  }
  if (shape.size() > kMaxRank || strides.size() != shape.size()) {
    refuse(
        name,
        fmt::format("has {} dimensions and {} strides; at most {} of each, and as many of one as "
                    "of the other, are served",
                    shape.size(),
                    strides.size(),
                    kMaxRank));
  }
  Tensor tensor{.name = name,
                .data = reinterpret_cast<void*>(address),
                .type = *type,
                .rank = static_cast<int>(shape.size())};
  std::copy(shape.begin(), shape.end(), tensor.shape.begin());
  std::copy(strides.begin(), strides.end(), tensor.strides.begin());
  return tensor;
}

}  // namespace

Arguments arguments_of(const std::vector<TensorTuple>& tensors, int ordinal) {
  Arguments arguments;
  for (const TensorTuple& tensor : tensors) arguments.add(tensor_of(tensor, ordinal));
  return arguments;
}

PyLaunch bind_launch(const PyPrepared& prepared,
                     const std::vector<TensorTuple>& tensors,
                     const std::optional<MemoryTuple>& workspace,
                     int sm_limit) {
  BindOptions options{.sm_limit = sm_limit};
  if (workspace) {
    options.workspace = Workspace{
        .data = reinterpret_cast<void*>(workspace->first), .bytes = workspace->second, .owner = {}};
  }
  const RelaxedCapture relaxed;
  const int ordinal = prepared->device().ordinal;
  if (ordinal < 0) return PyLaunch(std::in_place, prepared->bind({}, options));  // throws
  return PyLaunch(std::in_place, prepared->bind(arguments_of(tensors, ordinal), options));
}

}  // namespace kiln::python
