// Entries as bytes: round trips, and everything that must not decode.
// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.hpp"

#include <algorithm>
#include <random>

#include "cache/metadata.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using testing::make_test_cubin;
using testing::make_test_key;
using Bytes = std::vector<std::byte>;

Entry small_entry(std::size_t image_bytes = 24) {
  return {make_test_key("s"), make_test_cubin(image_bytes), "op"};
}

Bytes encode(const Entry& entry) { return std::get<Bytes>(encode_entry(entry)); }

EntryError error_of(std::span<const std::byte> bytes) {
  const auto decoded = decode_entry(bytes);
  REQUIRE(std::holds_alternative<EntryError>(decoded));
  return std::get<EntryError>(decoded);
}

// Overwrites part of the header or the body and makes the checksum right again, as a forger would.
Bytes forge(Bytes bytes, std::size_t offset, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    bytes[offset + i] = static_cast<std::byte>((value >> (8 * i)) & 0xffU);
  }
  const std::size_t covered = bytes.size() - kTrailerBytes;
  const Sha256 sum = sha256(std::span<const std::byte>(bytes).first(covered));
  std::ranges::copy(std::as_bytes(std::span(sum)),
                    bytes.begin() + static_cast<std::ptrdiff_t>(covered));
  return bytes;
}

std::uint64_t header_value(const Bytes& bytes, std::size_t offset, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[offset + i]) << (8 * i);
  }
  return value;
}

TEST_CASE("an entry comes back as it was, compressed or not, empty or not", "[cache]") {
  for (const std::size_t size : {0U, 1U, 24U, 4096U, 1000000U}) {
    const Entry entry = small_entry(size);
    const Bytes bytes = encode(entry);
    const auto decoded = decode_entry(bytes);
    REQUIRE(std::holds_alternative<Entry>(decoded));
    CHECK(std::get<Entry>(decoded) == entry);
  }
}

TEST_CASE("an image is compressed where that saves, and stored where it does not", "[cache]") {
  Entry entry = small_entry(0);
  entry.cubin.image.assign(100000, std::byte{7});
  CHECK(encode(entry).size() < 2000);
  CHECK(header_value(encode(entry), 12, 1) == 1);
  std::mt19937 random(1);
  for (std::byte& byte : entry.cubin.image) byte = static_cast<std::byte>(random() & 0xffU);
  CHECK(header_value(encode(entry), 12, 1) == 0);
  CHECK(header_value(encode(entry), 32, 8) == 100000);
}

TEST_CASE("the bytes of an entry are a function of the entry, and format 2 does not drift",
          "[cache]") {
  CHECK(encode(small_entry()) == encode(small_entry()));
  // Too small to compress, so that the bytes do not depend on the version of zstd.
  Entry entry = small_entry(0);
  for (const char c : std::string_view("kiln cubin"))
    entry.cubin.image.push_back(static_cast<std::byte>(c));
  const Bytes bytes = encode(entry);
  CHECK(bytes.size() == 362);
  CHECK(hex(sha256(std::span<const std::byte>(bytes))) ==
        "e6f5c12586021beaa1258758a2f68e5c611124dc661845eac5f2a8e2fe60cacc");
}

TEST_CASE("every truncation of an entry is an error", "[cache]") {
  const Bytes bytes = encode(small_entry(2000));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = decode_entry(std::span(bytes).first(size));
    if (!std::holds_alternative<EntryError>(decoded))
      FAIL("a prefix of " << size << " bytes decodes");
  }
}

TEST_CASE("every single flipped bit of an entry is an error", "[cache]") {
  Bytes bytes = encode(small_entry());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const std::byte mask = std::byte{1} << (bit % 8);
    bytes[bit / 8] ^= mask;
    const auto decoded = decode_entry(bytes);
    if (!std::holds_alternative<EntryError>(decoded)) FAIL("bit " << bit << " flipped decodes");
    bytes[bit / 8] ^= mask;
  }
  CHECK(std::holds_alternative<Entry>(decode_entry(bytes)));
}

TEST_CASE("bytes after an entry are an error", "[cache]") {
  Bytes bytes = encode(small_entry());
  bytes.push_back(std::byte{0});
  CHECK(error_of(bytes) == EntryError::wrong_sizes);
}

TEST_CASE("absurd sizes are refused before anything is allocated for them", "[cache]") {
  const Bytes bytes = encode(small_entry());
  for (const std::size_t offset : {16U, 20U, 24U, 28U}) {
    CHECK(error_of(forge(bytes, offset, 0xffffffffU, 4)) == EntryError::wrong_sizes);
  }
  for (const std::size_t offset : {32U, 40U}) {
    for (const std::uint64_t value :
         {~std::uint64_t{0}, std::uint64_t{1} << 63U, kMaxImageBytes + std::uint64_t{1}}) {
      CHECK(error_of(forge(bytes, offset, value, 8)) == EntryError::wrong_sizes);
    }
  }
}

TEST_CASE("a forged entry with a right checksum still decodes to an error", "[cache]") {
  const Bytes bytes = encode(small_entry(5000));
  const std::size_t kernel_key = header_value(bytes, 16, 4);
  const std::size_t toolchain_key = header_value(bytes, 20, 4);
  const std::size_t metadata = kHeaderBytes + kernel_key + toolchain_key;
  CHECK(header_value(bytes, 12, 1) == 1);
  CHECK(error_of(forge(bytes, 8, 1, 2)) == EntryError::wrong_version);
  CHECK(error_of(forge(bytes, 12, 2, 1)) == EntryError::wrong_codec);
  CHECK(error_of(forge(bytes, 12, 0, 1)) == EntryError::wrong_payload);
  CHECK(error_of(forge(bytes, 13, 1, 1)) == EntryError::wrong_reserved);
  CHECK(error_of(forge(bytes, 63, 1, 1)) == EntryError::wrong_reserved);
  CHECK(error_of(forge(bytes, 40, 5001, 8)) == EntryError::wrong_payload);
  CHECK(error_of(forge(bytes, 40, kMaxImageBytes, 8)) == EntryError::wrong_payload);
  CHECK(error_of(forge(bytes, kHeaderBytes, ~std::uint64_t{0}, 8)) == EntryError::wrong_key);
  CHECK(error_of(forge(bytes, metadata, 0, 1)) == EntryError::wrong_metadata);
  // An entry without a toolchain: its key's bytes are counted to the metadata.
  CHECK(
      error_of(forge(forge(bytes, 20, 0, 4), 24, header_value(bytes, 24, 4) + toolchain_key, 4)) ==
      EntryError::wrong_key);
}

TEST_CASE("random bytes are an error", "[cache]") {
  std::mt19937 random(7);
  const Bytes bytes = encode(small_entry());
  for (int round = 0; round < 2000; ++round) {
    Bytes noise = bytes;
    for (int i = 0; i < 8; ++i)
      noise[random() % noise.size()] = static_cast<std::byte>(random() & 0xffU);
    if (noise == bytes) continue;
    noise = forge(std::move(noise), 0, header_value(bytes, 0, 8), 8);
    (void)decode_entry(
        noise);  // with a right checksum anything may come back, but it must come back
    noise.back() ^= std::byte{1};
    CHECK(std::holds_alternative<EntryError>(decode_entry(noise)));
  }
}

TEST_CASE("an entry that could not be read back is not written", "[cache]") {
  const auto refused = [](const Entry& entry) { return std::get<EntryError>(encode_entry(entry)); };
  Entry entry = small_entry();
  entry.key.toolchain.clear();
  CHECK(refused(entry) == EntryError::no_toolchain);
  entry = small_entry();
  entry.op.assign(kMaxMetadataBytes, 'x');
  CHECK(refused(entry) == EntryError::too_large);
  entry = small_entry();
  entry.key.fields[2].value.assign(kMaxKeyBytes, 'x');
  CHECK(refused(entry) == EntryError::too_large);
  entry = small_entry();
  entry.cubin.image.resize(kMaxImageBytes + 1);
  CHECK(refused(entry) == EntryError::too_large);
  entry = small_entry();
  entry.cubin.registers = -1;
  CHECK(refused(entry) == EntryError::wrong_metadata);
}

TEST_CASE("metadata takes unknown members and refuses missing, wrong and deep ones", "[cache]") {
  const Metadata metadata{"op", "entry", 1, 2, 3, 4};
  const std::string json = to_json(metadata);
  CHECK(metadata_from_json(json) == metadata);
  CHECK(metadata_from_json("{\"later\":[1]," + json.substr(1)) == metadata);
  CHECK_FALSE(metadata_from_json("{}"));
  CHECK_FALSE(metadata_from_json("[]"));
  CHECK_FALSE(metadata_from_json(""));
  CHECK_FALSE(metadata_from_json(json.substr(0, json.size() - 1)));
  CHECK_FALSE(metadata_from_json(std::string(kMaxMetadataBytes, '[')));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = json;
    changed.replace(changed.find(from), from.size(), to);
    return metadata_from_json(changed);
  };
  CHECK_FALSE(with("\"registers\":1", "\"registers\":-1"));
  CHECK_FALSE(with("\"registers\":1", "\"registers\":2147483648"));
  CHECK_FALSE(with("\"registers\":1", "\"registers\":1.5"));
  CHECK_FALSE(with("\"spill_bytes\":2", "\"spill_bytes\":18446744073709551615"));
  CHECK_FALSE(with("\"op\":\"op\"", "\"op\":1"));
}

TEST_CASE("an op that is not UTF-8 does not make encoding throw", "[cache]") {
  Entry entry = small_entry();
  entry.op = "op:\xff\xfe";
  CHECK(std::holds_alternative<Entry>(decode_entry(encode(entry))));
}

}  // namespace
}  // namespace kiln::cache
