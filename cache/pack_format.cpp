// A pack as bytes, all but its entries: pure encoding and decoding. Grammar in docs/caching.md.
// SPDX-License-Identifier: Apache-2.0
#include "cache/pack_format.hpp"

#include <algorithm>
#include <array>

#include "cache/little_endian.hpp"

namespace kiln::cache {
namespace {

using Magic = std::array<std::uint8_t, 8>;
constexpr Magic kMagic = {0x89, 'K', 'P', 'A', 'K', '\r', '\n', 0x1a};
constexpr Magic kSignatureMagic = {'K', 'I', 'L', 'N', 'S', 'I', 'G', '1'};
constexpr std::uint64_t kVersion = 1;
constexpr std::string_view kSignedSentence = "kiln pack, format 1, checksum ";

constexpr Field kVersionField{8, 2};
constexpr Field kHeaderBytesField{10, 2};
constexpr Field kEntriesField{12, 4};
constexpr Field kManifestField{16, 4};
constexpr Field kSignatureField{20, 4};
constexpr Field kEntriesBytesField{24, 8};
constexpr std::size_t kReservedOffset = 32;

// Of one entry of the index.
constexpr std::size_t kToolchainOffset = 32;
constexpr Field kOffsetField{64, 8};
constexpr Field kBytesField{72, 8};
constexpr std::size_t kChecksumOffset = 80;

// Of the signature block.
constexpr std::size_t kKeyIdOffset = 8;
constexpr std::size_t kSignatureOffset = 40;
constexpr std::size_t kBlockChecksumOffset = 104;

template <class Array>
Array load_array(std::span<const std::byte> bytes, std::size_t offset) {
  Array array{};
  std::ranges::copy(bytes.subspan(offset, array.size()),
                    reinterpret_cast<std::byte*>(array.data()));
  return array;
}

template <class Array>
void save_array(std::span<std::byte> bytes, std::size_t offset, const Array& array) {
  std::ranges::copy(std::as_bytes(std::span(array)), bytes.subspan(offset).begin());
}

// Strictly rising digests and entries that touch: no byte between header and index is nobody's, and
// none is two entries'.
std::optional<std::vector<PackEntry>> read_index(std::span<const std::byte> bytes,
                                                 const PackHeader& header) {
  std::vector<PackEntry> entries;
  entries.reserve(header.entries);
  std::uint64_t offset = kPackHeaderBytes;
  for (std::size_t i = 0; i < header.entries; ++i) {
    const auto one = bytes.subspan(i * kIndexEntryBytes, kIndexEntryBytes);
    PackEntry entry;
    entry.digest = {load_array<Sha256>(one, 0), load_array<Sha256>(one, kToolchainOffset)};
    entry.offset = load(one, kOffsetField);
    entry.bytes = load(one, kBytesField);
    entry.checksum = load_array<Sha256>(one, kChecksumOffset);
    if (entry.offset != offset) return std::nullopt;
    if (entry.bytes < kHeaderBytes + kTrailerBytes || entry.bytes > kMaxEntryBytes)
      return std::nullopt;
    if (!entries.empty() && !(entries.back().digest < entry.digest)) return std::nullopt;
    offset += entry.bytes;
    entries.push_back(entry);
  }
  if (offset != header.index_offset()) return std::nullopt;
  return entries;
}

}  // namespace

std::string_view sentence(PackError error) noexcept {
  switch (error) {
    case PackError::truncated:
      return "the file is too short to be a pack";
    case PackError::wrong_magic:
      return "the file does not begin like a pack";
    case PackError::wrong_version:
      return "the file has an unknown format version";
    case PackError::wrong_sizes:
      return "the sizes in the header are not those of the file";
    case PackError::wrong_reserved:
      return "reserved bytes of the header are not zero";
    case PackError::wrong_checksum:
      return "the checksum of header, index and manifest does not match";
    case PackError::wrong_index:
      return "the index is not sorted, or its entries do not follow one another";
    case PackError::wrong_manifest:
      return "the manifest cannot be read";
    case PackError::wrong_signature_block:
      return "the signature block is damaged";
  }
  return "unknown";
}

std::vector<std::byte> encode_header(const PackHeader& header) {
  std::vector<std::byte> bytes(kPackHeaderBytes);
  save_array(bytes, 0, kMagic);
  save(bytes, kVersionField, kVersion);
  save(bytes, kHeaderBytesField, kPackHeaderBytes);
  save(bytes, kEntriesField, header.entries);
  save(bytes, kManifestField, header.manifest_bytes);
  save(bytes, kSignatureField, header.signature_bytes);
  save(bytes, kEntriesBytesField, header.entries_bytes);
  return bytes;
}

std::variant<PackHeader, PackError> decode_header(std::span<const std::byte> bytes,
                                                  std::uint64_t file_bytes) {
  if (bytes.size() < kPackHeaderBytes) return PackError::truncated;
  if (load_array<Magic>(bytes, 0) != kMagic) return PackError::wrong_magic;
  if (load(bytes, kVersionField) != kVersion) return PackError::wrong_version;
  if (load(bytes, kHeaderBytesField) != kPackHeaderBytes) return PackError::wrong_sizes;
  const auto reserved = bytes.subspan(kReservedOffset, kPackHeaderBytes - kReservedOffset);
  if (std::ranges::any_of(reserved, [](std::byte byte) { return byte != std::byte{0}; }))
    return PackError::wrong_reserved;
  const PackHeader header{load(bytes, kEntriesField),
                          load(bytes, kManifestField),
                          load(bytes, kSignatureField),
                          load(bytes, kEntriesBytesField)};
  // Each on its own first, so that no sum can wrap.
  if (header.entries > kMaxPackEntries || header.manifest_bytes > kMaxManifestBytes ||
      (header.signature_bytes != 0 && header.signature_bytes != kSignatureBlockBytes) ||
      header.entries_bytes > file_bytes) {
    return PackError::wrong_sizes;
  }
  if (header.index_offset() + header.tail_bytes() != file_bytes) return PackError::wrong_sizes;
  return header;
}

std::vector<std::byte> encode_index(std::span<const PackEntry> entries, std::string_view manifest) {
  const std::size_t index_bytes = entries.size() * kIndexEntryBytes;
  std::vector<std::byte> bytes(index_bytes + manifest.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto one = std::span(bytes).subspan(i * kIndexEntryBytes, kIndexEntryBytes);
    save_array(one, 0, entries[i].digest.kernel);
    save_array(one, kToolchainOffset, entries[i].digest.toolchain);
    save(one, kOffsetField, entries[i].offset);
    save(one, kBytesField, entries[i].bytes);
    save_array(one, kChecksumOffset, entries[i].checksum);
  }
  std::ranges::copy(std::as_bytes(std::span(manifest)),
                    bytes.begin() + static_cast<std::ptrdiff_t>(index_bytes));
  return bytes;
}

std::variant<PackHead, PackError> decode_head(const PackHeader& header,
                                              std::span<const std::byte> header_and_tail) {
  if (header_and_tail.size() != kPackHeaderBytes + header.tail_bytes()) return PackError::truncated;
  const std::size_t covered = kPackHeaderBytes + header.index_bytes() + header.manifest_bytes;
  PackHead head;
  head.checksum = sha256(header_and_tail.first(covered));
  if (load_array<Sha256>(header_and_tail, covered) != head.checksum)
    return PackError::wrong_checksum;
  if (header.signature_bytes != 0) {
    head.signature = decode_signature_block(header_and_tail.last(header.signature_bytes));
    if (!head.signature) return PackError::wrong_signature_block;
  }
  auto entries =
      read_index(header_and_tail.subspan(kPackHeaderBytes, header.index_bytes()), header);
  if (!entries) return PackError::wrong_index;
  head.entries = std::move(*entries);
  const auto json =
      header_and_tail.subspan(kPackHeaderBytes + header.index_bytes(), header.manifest_bytes);
  auto manifest = manifest_from_json({reinterpret_cast<const char*>(json.data()), json.size()});
  if (!manifest) return PackError::wrong_manifest;
  head.manifest = std::move(*manifest);
  head.manifest_json.assign(reinterpret_cast<const char*>(json.data()), json.size());
  return head;
}

std::vector<std::byte> encode_signature_block(const Signed& signature) {
  std::vector<std::byte> bytes(kSignatureBlockBytes);
  save_array(bytes, 0, kSignatureMagic);
  save_array(bytes, kKeyIdOffset, signature.key_id);
  save_array(bytes, kSignatureOffset, signature.signature);
  // So that damage shows where nobody asks for signatures, too.
  save_array(bytes, kBlockChecksumOffset, sha256(std::span(bytes).first(kBlockChecksumOffset)));
  return bytes;
}

std::optional<Signed> decode_signature_block(std::span<const std::byte> bytes) {
  if (bytes.size() != kSignatureBlockBytes) return std::nullopt;
  if (load_array<Magic>(bytes, 0) != kSignatureMagic) return std::nullopt;
  if (load_array<Sha256>(bytes, kBlockChecksumOffset) != sha256(bytes.first(kBlockChecksumOffset)))
    return std::nullopt;
  return Signed{load_array<Sha256>(bytes, kKeyIdOffset),
                load_array<Ed25519Signature>(bytes, kSignatureOffset)};
}

std::vector<std::byte> signed_message(const Sha256& checksum) {
  std::vector<std::byte> message(kSignedSentence.size() + checksum.size());
  std::ranges::copy(std::as_bytes(std::span(kSignedSentence)), message.begin());
  save_array(message, kSignedSentence.size(), checksum);
  return message;
}

}  // namespace kiln::cache
