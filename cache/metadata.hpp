// What an entry says about its cubin, as bounded JSON: a function of key and cubin alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln::cache {

inline constexpr std::size_t kMaxMetadataBytes = std::size_t{16} << 10U;

// No path, no time, no log, and no signature: several give one source, and which of them came first
// must not show. Two machines that make the same cubin write the same bytes.
struct Metadata {
  std::string op;
  std::string entry;
  int registers = 0;
  std::int64_t spill_bytes = 0;
  std::int64_t stack_bytes = 0;
  std::int64_t static_smem_bytes = 0;

  bool operator==(const Metadata&) const = default;
};

[[nodiscard]] std::string to_json(const Metadata& metadata);
// Nothing when it is not an object with these members in range; unknown members are for later
// versions.
[[nodiscard]] std::optional<Metadata> metadata_from_json(std::string_view json);

}  // namespace kiln::cache
