// Unsigned little-endian fields at fixed offsets: how the headers of entries and packs hold
// numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kiln::cache {

// At most 8 bytes; the caller checks that it lies within the bytes it is applied to.
struct Field {
  std::size_t offset;
  std::size_t bytes;
};

[[nodiscard]] inline std::uint64_t load(std::span<const std::byte> bytes, Field field) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < field.bytes; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[field.offset + i]) << (8 * i);
  }
  return value;
}

inline void save(std::span<std::byte> bytes, Field field, std::uint64_t value) {
  for (std::size_t i = 0; i < field.bytes; ++i) {
    bytes[field.offset + i] = static_cast<std::byte>((value >> (8 * i)) & 0xffU);
  }
}

}  // namespace kiln::cache
