// How the cubin of an entry is stored: as it is, or compressed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kiln::cache {

// On disk: numbers are never reused.
enum class Codec : std::uint8_t { stored = 0, zstd = 1 };

struct Payload {
  Codec codec = Codec::stored;
  std::vector<std::byte> bytes;
};

// zstd level 1 where that is smaller, else the bytes themselves.
[[nodiscard]] Payload compress(std::span<const std::byte> image);

// Nothing unless the payload gives exactly `image_bytes` bytes; allocates no more than that.
[[nodiscard]] std::optional<std::vector<std::byte>> decompress(Codec codec,
                                                               std::span<const std::byte> payload,
                                                               std::size_t image_bytes);

}  // namespace kiln::cache
