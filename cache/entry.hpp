// One entry as bytes: pure encoding and decoding. The grammar is in docs/caching.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cache/codec.hpp"
#include "src/core/cubin.hpp"
#include "src/core/digest.hpp"

namespace kiln::cache {

// Limits a reader enforces before it allocates. A key holds the emitted source; a cubin of 64 MiB
// is a hundred times the largest one seen.
inline constexpr std::size_t kMaxKeyBytes = std::size_t{4} << 20U;
inline constexpr std::size_t kMaxImageBytes = std::size_t{64} << 20U;
inline constexpr std::size_t kMaxSignatureBytes = std::size_t{1} << 10U;
inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kTrailerBytes = 32;
// No file larger than this is read at all.
inline constexpr std::size_t kMaxEntryBytes = std::size_t{96} << 20U;

struct Entry {
  Key key;
  Cubin cubin;
  std::string op;

  bool operator==(const Entry&) const = default;
};

// Why bytes are not an entry, or an entry cannot be bytes.
enum class EntryError {
  truncated,  // shorter than a header and a trailer
  wrong_magic,
  wrong_version,
  wrong_sizes,     // absurd, or not the size of the file
  wrong_reserved,  // bytes that version 2 writes as zero
  wrong_checksum,
  wrong_codec,
  wrong_key,  // not a serialised key
  wrong_metadata,
  wrong_payload,  // does not decompress to the announced size
  too_large,      // encoding only: over a limit
  no_toolchain,   // encoding only: an entry is always some toolchain's
};

// One sentence for people.
[[nodiscard]] std::string_view sentence(EntryError error) noexcept;

// The same bytes for the same entry, on any machine with this zstd.
[[nodiscard]] std::variant<std::vector<std::byte>, EntryError> encode_entry(const Entry& entry);

// `known`: the caller compared all of the bytes with a checksum of its own, which costs as much as
// everything else.
enum class EntryChecksum { check, known };

// Total: any bytes give an entry or an error, and memory stays within the limits above.
[[nodiscard]] std::variant<Entry, EntryError> decode_entry(
    std::span<const std::byte> bytes,
    Decompressor& decompressor,
    EntryChecksum checksum = EntryChecksum::check);
[[nodiscard]] std::variant<Entry, EntryError> decode_entry(std::span<const std::byte> bytes);

}  // namespace kiln::cache
