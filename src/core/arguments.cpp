// The fixed-capacity argument list.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/arguments.hpp>
#include <kiln/error.hpp>

#include <fmt/format.h>

#include "src/core/diagnostics.hpp"

namespace kiln {

void Arguments::add(const Tensor& tensor) {
  if (tensor.name.empty()) {
    throw Error{ErrorCode::invalid_argument, "a tensor needs a name, such as \"x\""};
  }
  for (int i = 0; i < count; ++i) {
    if (tensors[static_cast<std::size_t>(i)].name == tensor.name) {
      throw Error{ErrorCode::invalid_argument,
                  fmt::format("tensor {} was given twice; give each once", quote(tensor.name))};
    }
  }
  if (count >= kCapacity) {
    throw Error{
        ErrorCode::invalid_argument,
        fmt::format(
            "tensor {} is one too many: a launch takes at most {}", quote(tensor.name), kCapacity)};
  }
  tensors[static_cast<std::size_t>(count)] = tensor;
  ++count;
}

const Tensor* Arguments::find(std::string_view name) const noexcept {
  for (int i = 0; i < count; ++i) {
    const Tensor& tensor = tensors[static_cast<std::size_t>(i)];
    if (tensor.name == name) return tensor.data == nullptr ? nullptr : &tensor;
  }
  return nullptr;
}

}  // namespace kiln
