// One entry as bytes: pure encoding and decoding. The grammar is in docs/caching.md.
// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <kiln/error.hpp>

#include "cache/little_endian.hpp"
#include "cache/metadata.hpp"

namespace kiln::cache {
namespace {

// The first byte is not ASCII and the line ends are mixed, so that a text-mode copy is noticed.
constexpr std::array<std::uint8_t, 8> kMagic = {0x89, 'K', 'I', 'L', 'N', '\r', '\n', 0x1a};
constexpr std::uint64_t kVersion = 2;

constexpr Field kVersionField{8, 2};
constexpr Field kHeaderBytesField{10, 2};
constexpr Field kCodecField{12, 1};
constexpr Field kReservedField{13, 3};
constexpr Field kKernelKeyField{16, 4};
constexpr Field kToolchainKeyField{20, 4};
constexpr Field kMetadataField{24, 4};
constexpr Field kSignatureField{28, 4};
constexpr Field kPayloadField{32, 8};
constexpr Field kImageField{40, 8};
constexpr Field kReservedTailField{48, 16};

struct Header {
  std::uint64_t codec = 0;
  std::uint64_t kernel_key_bytes = 0;
  std::uint64_t toolchain_key_bytes = 0;
  std::uint64_t metadata_bytes = 0;
  std::uint64_t signature_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t image_bytes = 0;
};

bool is_zero(std::span<const std::byte> bytes, Field field) {
  return std::ranges::all_of(bytes.subspan(field.offset, field.bytes),
                             [](std::byte byte) { return byte == std::byte{0}; });
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void append(std::vector<std::byte>& bytes, std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), first, first + text.size());
}

// Every limit is checked on its own before anything is added up, so that no sum can wrap.
std::optional<EntryError> read_header(std::span<const std::byte> bytes, Header& header) {
  if (bytes.size() < kHeaderBytes + kTrailerBytes) return EntryError::truncated;
  const auto* magic = reinterpret_cast<const std::byte*>(kMagic.data());
  if (!std::equal(magic, magic + kMagic.size(), bytes.begin())) return EntryError::wrong_magic;
  if (load(bytes, kVersionField) != kVersion) return EntryError::wrong_version;
  if (load(bytes, kHeaderBytesField) != kHeaderBytes) return EntryError::wrong_sizes;
  if (!is_zero(bytes, kReservedField) || !is_zero(bytes, kReservedTailField)) {
    return EntryError::wrong_reserved;
  }
  header = {load(bytes, kCodecField),
            load(bytes, kKernelKeyField),
            load(bytes, kToolchainKeyField),
            load(bytes, kMetadataField),
            load(bytes, kSignatureField),
            load(bytes, kPayloadField),
            load(bytes, kImageField)};
  if (header.kernel_key_bytes > kMaxKeyBytes || header.toolchain_key_bytes > kMaxKeyBytes ||
      header.metadata_bytes > kMaxMetadataBytes || header.signature_bytes > kMaxSignatureBytes ||
      header.image_bytes > kMaxImageBytes || header.payload_bytes > header.image_bytes) {
    return EntryError::wrong_sizes;
  }
  const std::uint64_t total = kHeaderBytes + header.kernel_key_bytes + header.toolchain_key_bytes +
                              header.metadata_bytes + header.payload_bytes + kTrailerBytes +
                              header.signature_bytes;
  if (total != bytes.size()) return EntryError::wrong_sizes;
  return std::nullopt;
}

bool checksum_matches(std::span<const std::byte> bytes, const Header& header) {
  const std::size_t covered = bytes.size() - header.signature_bytes - kTrailerBytes;
  const Sha256 computed = sha256(bytes.first(covered));
  const auto* expected = reinterpret_cast<const std::byte*>(computed.data());
  return std::equal(
      expected, expected + computed.size(), bytes.begin() + static_cast<std::ptrdiff_t>(covered));
}

// Fields have one serialisation: lengths are of fixed size, and all of the bytes are read.
std::optional<std::vector<KeyField>> read_fields(std::span<const std::byte> bytes) {
  try {
    return deserialize_fields(text_of(bytes));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string_view sentence(EntryError error) noexcept {
  switch (error) {
    case EntryError::truncated:
      return "the file is too short to be an entry";
    case EntryError::wrong_magic:
      return "the file does not begin like an entry";
    case EntryError::wrong_version:
      return "the file has an unknown format version";
    case EntryError::wrong_sizes:
      return "the sizes in the header are not those of the file";
    case EntryError::wrong_reserved:
      return "reserved bytes of the header are not zero";
    case EntryError::wrong_checksum:
      return "the checksum does not match";
    case EntryError::wrong_codec:
      return "the cubin is stored in an unknown way";
    case EntryError::wrong_key:
      return "the key cannot be read";
    case EntryError::wrong_metadata:
      return "the metadata cannot be read";
    case EntryError::wrong_payload:
      return "the cubin does not decompress to the announced size";
    case EntryError::too_large:
      return "the key, the metadata or the cubin exceeds the format's limits";
    case EntryError::no_toolchain:
      return "the key names no toolchain";
  }
  return "unknown";
}

std::variant<std::vector<std::byte>, EntryError> encode_entry(const Entry& entry) {
  if (entry.key.toolchain.empty()) return EntryError::no_toolchain;
  const Cubin& cubin = entry.cubin;
  const std::string kernel = serialize(entry.key.fields);
  const std::string toolchain = serialize(entry.key.toolchain);
  const std::string metadata = to_json({entry.op,
                                        cubin.entry,
                                        cubin.registers,
                                        cubin.spill_bytes,
                                        cubin.stack_bytes,
                                        cubin.static_smem_bytes});
  if (kernel.size() > kMaxKeyBytes || toolchain.size() > kMaxKeyBytes ||
      metadata.size() > kMaxMetadataBytes || cubin.image.size() > kMaxImageBytes) {
    return EntryError::too_large;
  }
  // What could not be read back must not be written.
  if (!metadata_from_json(metadata)) return EntryError::wrong_metadata;
  const Payload payload = compress(cubin.image);

  std::vector<std::byte> bytes(kHeaderBytes);
  std::ranges::copy(std::as_bytes(std::span(kMagic)), bytes.begin());
  save(bytes, kVersionField, kVersion);
  save(bytes, kHeaderBytesField, kHeaderBytes);
  save(bytes, kCodecField, static_cast<std::uint64_t>(payload.codec));
  save(bytes, kKernelKeyField, kernel.size());
  save(bytes, kToolchainKeyField, toolchain.size());
  save(bytes, kMetadataField, metadata.size());
  save(bytes, kPayloadField, payload.bytes.size());
  save(bytes, kImageField, cubin.image.size());
  append(bytes, kernel);
  append(bytes, toolchain);
  append(bytes, metadata);
  bytes.insert(bytes.end(), payload.bytes.begin(), payload.bytes.end());
  const Sha256 trailer = sha256(bytes);
  const auto trailer_bytes = std::as_bytes(std::span(trailer));
  bytes.insert(bytes.end(), trailer_bytes.begin(), trailer_bytes.end());
  return bytes;
}

std::variant<Entry, EntryError> decode_entry(std::span<const std::byte> bytes) {
  Decompressor decompressor;
  return decode_entry(bytes, decompressor);
}

std::variant<Entry, EntryError> decode_entry(std::span<const std::byte> bytes,
                                             Decompressor& decompressor,
                                             EntryChecksum checksum) {
  Header header;
  if (const auto error = read_header(bytes, header)) return *error;
  if (checksum == EntryChecksum::check && !checksum_matches(bytes, header))
    return EntryError::wrong_checksum;
  // The checksum finds accidents; what follows holds against bytes that somebody made up, too.
  if (header.codec > static_cast<std::uint64_t>(Codec::zstd)) return EntryError::wrong_codec;

  std::span<const std::byte> rest = bytes.subspan(kHeaderBytes);
  const auto take = [&rest](std::uint64_t size) {
    const auto part = rest.first(size);
    rest = rest.subspan(size);
    return part;
  };
  auto fields = read_fields(take(header.kernel_key_bytes));
  auto toolchain = read_fields(take(header.toolchain_key_bytes));
  if (!fields || !toolchain || toolchain->empty()) return EntryError::wrong_key;
  auto metadata = metadata_from_json(text_of(take(header.metadata_bytes)));
  if (!metadata) return EntryError::wrong_metadata;
  auto image = decompressor.decompress(
      static_cast<Codec>(header.codec), take(header.payload_bytes), header.image_bytes);
  if (!image) return EntryError::wrong_payload;
  return Entry{{std::move(*fields), std::move(*toolchain)},
               {std::move(*image),
                std::move(metadata->entry),
                metadata->registers,
                metadata->spill_bytes,
                metadata->stack_bytes,
                metadata->static_smem_bytes},
               std::move(metadata->op)};
}

}  // namespace kiln::cache
