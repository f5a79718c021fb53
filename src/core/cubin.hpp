// Compiled code of one kernel and what the compiler said about it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

struct Cubin {
  std::vector<std::byte> image;
  std::string entry;
  int registers = 0;
  std::int64_t spill_bytes = 0;  // stores plus loads
  std::int64_t stack_bytes = 0;
  std::int64_t static_smem_bytes = 0;

  bool operator==(const Cubin&) const = default;
};

}  // namespace kiln
