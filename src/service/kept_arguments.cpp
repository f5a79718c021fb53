// Copying names into storage of a fixed size, and pointing at it again.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/kept_arguments.hpp"

#include <algorithm>
#include <string_view>

namespace kiln {

bool KeptArguments::fits(const Arguments& arguments) noexcept {
  const auto* first = arguments.tensors.data();
  return std::all_of(first, first + arguments.count, [](const Tensor& tensor) {
    return tensor.name.size() <= kNameBytes;
  });
}

void KeptArguments::keep(const Arguments& arguments) noexcept {
  arguments_ = arguments;
  for (std::size_t i = 0; i < static_cast<std::size_t>(arguments.count); ++i) {
    const std::string_view name = arguments.tensors[i].name;
    std::copy(name.begin(), name.end(), names_[i].begin());
  }
}

Arguments KeptArguments::get() const noexcept {
  // The names in arguments_ tell only sizes: this object may have moved since.
  Arguments arguments = arguments_;
  for (std::size_t i = 0; i < static_cast<std::size_t>(arguments.count); ++i) {
    arguments.tensors[i].name = {names_[i].data(), arguments.tensors[i].name.size()};
  }
  return arguments;
}

}  // namespace kiln
