// Writing the composed kernels of a family as a C++ file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kiln/arch.hpp>

#include "src/core/cubin.hpp"

namespace kiln::composed {

struct Image {
  Arch arch;
  bool ptx = false;
  std::string bytes;  // PTX ends in its terminating zero
  std::vector<Cubin>
      entries;  // without images: names and resource use, -1 where PTX leaves it unknown
};

// A file that defines kiln::composed::<family>::images() as src/service/composed_images.hpp has it.
// The bytes depend on the arguments alone.
[[nodiscard]] std::string composed_source(std::string_view family,
                                          const std::vector<Image>& images);

}  // namespace kiln::composed
