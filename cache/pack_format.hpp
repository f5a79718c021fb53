// A pack as bytes, all but its entries: pure encoding and decoding. Grammar in docs/caching.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cache/pack.hpp"

namespace kiln::cache {

inline constexpr std::size_t kPackHeaderBytes = 64;
inline constexpr std::size_t kIndexEntryBytes = 112;
inline constexpr std::size_t kSignatureBlockBytes = 136;

struct PackHeader {
  std::uint64_t entries = 0;
  std::uint64_t manifest_bytes = 0;
  std::uint64_t signature_bytes = 0;  // 0 or kSignatureBlockBytes
  std::uint64_t entries_bytes = 0;

  [[nodiscard]] std::uint64_t index_bytes() const noexcept { return entries * kIndexEntryBytes; }
  [[nodiscard]] std::uint64_t index_offset() const noexcept {
    return kPackHeaderBytes + entries_bytes;
  }
  // Index, manifest, checksum, signature block: everything after the entries.
  [[nodiscard]] std::uint64_t tail_bytes() const noexcept {
    return index_bytes() + manifest_bytes + kTrailerBytes + signature_bytes;
  }

  bool operator==(const PackHeader&) const = default;
};

// Why bytes are not a pack.
enum class PackError {
  truncated,
  wrong_magic,
  wrong_version,
  wrong_sizes,  // absurd, or not the size of the file
  wrong_reserved,
  wrong_checksum,
  wrong_index,     // not sorted, or entries that do not follow one another
  wrong_manifest,  // not the JSON of a manifest
  wrong_signature_block,
};
[[nodiscard]] std::string_view sentence(PackError error) noexcept;

struct PackHead {
  std::vector<PackEntry> entries;
  PackManifest manifest;
  std::string manifest_json;  // as it is in the file
  Sha256 checksum{};
  std::optional<Signed> signature;
};

[[nodiscard]] std::vector<std::byte> encode_header(const PackHeader& header);
// `bytes` is the beginning of a file of `file_bytes`. What it gives is within the limits and adds
// up to the file.
[[nodiscard]] std::variant<PackHeader, PackError> decode_header(std::span<const std::byte> bytes,
                                                                std::uint64_t file_bytes);

// Index and manifest, as they follow the entries.
[[nodiscard]] std::vector<std::byte> encode_index(std::span<const PackEntry> entries,
                                                  std::string_view manifest);
// `header_and_tail`: the header, then everything after the entries. Total: any bytes give a head or
// an error.
[[nodiscard]] std::variant<PackHead, PackError> decode_head(
    const PackHeader& header, std::span<const std::byte> header_and_tail);

[[nodiscard]] std::vector<std::byte> encode_signature_block(const Signed& signature);
[[nodiscard]] std::optional<Signed> decode_signature_block(std::span<const std::byte> bytes);
// What is signed: a sentence that no other use of a key signs, and the checksum.
[[nodiscard]] std::vector<std::byte> signed_message(const Sha256& checksum);

[[nodiscard]] std::string manifest_to_json(const PackManifest& manifest);
// Nothing when it is not an object with these members; unknown members are for later versions.
[[nodiscard]] std::optional<PackManifest> manifest_from_json(std::string_view json);

}  // namespace kiln::cache
