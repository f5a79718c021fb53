// Names and sizes of element types.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/dtype.hpp>

namespace kiln {

std::string_view to_string(DType type) noexcept {
  switch (type) {
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::i32:
      return "i32";
  }
  return "unknown";
}

std::optional<DType> parse_dtype(std::string_view text) noexcept {
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::i32}) {
    if (text == to_string(type)) return type;
  }
  return std::nullopt;
}

int size_bytes(DType type) noexcept {
  switch (type) {
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
  }
  return 0;
}

}  // namespace kiln
