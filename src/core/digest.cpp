// SHA-256 by OpenSSL, and the bytes a key hashes to.
// SPDX-License-Identifier: Apache-2.0
#include "src/core/digest.hpp"

#include <kiln/error.hpp>

#include <array>
#include <bit>

#include <fmt/format.h>
#include <openssl/opensslconf.h>
#ifdef OPENSSL_NO_DEPRECATED_3_0
#include <openssl/evp.h>
#else
#include <openssl/sha.h>
#endif

namespace kiln {
namespace {

constexpr std::size_t kLengthBytes = 8;

// Little-endian, so that keys are the same bytes on every machine.
void append_sized(std::string& out, std::string_view text) {
  static_assert(std::endian::native == std::endian::little &&
                sizeof(std::uint64_t) == kLengthBytes);
  const auto length = std::bit_cast<std::array<char, kLengthBytes>>(std::uint64_t{text.size()});
  out.append(length.data(), length.size()).append(text);
}

std::string take_sized(std::string_view& bytes) {
  const auto refuse = [&](std::string_view problem) {
    throw Error{ErrorCode::internal, fmt::format("these bytes are not a key: {}", problem)};
  };
  if (bytes.size() < kLengthBytes) refuse("a length is cut short");
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    size |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  bytes.remove_prefix(kLengthBytes);
  if (size > bytes.size()) refuse("a length goes beyond the end");
  std::string text(bytes.substr(0, static_cast<std::size_t>(size)));
  bytes.remove_prefix(static_cast<std::size_t>(size));
  return text;
}

}  // namespace

#ifndef OPENSSL_NO_DEPRECATED_3_0
// The first EVP digest of a process reads OpenSSL's configuration and sets up every provider, error
// text and object name: 1 ms, where a whole start with a warm cache takes 4. These calls are the
// same code without that. They have no state to share and cannot fail.
Sha256 sha256(std::span<const std::byte> bytes) {
  Sha256 out{};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes.data(), bytes.size());
  SHA256_Final(out.data(), &state);
#pragma GCC diagnostic pop
  return out;
}
#else
Sha256 sha256(std::span<const std::byte> bytes) {
  Sha256 out{};
  unsigned int size = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, EVP_sha256(), nullptr);
  if (done != 1 || size != out.size()) {
    throw Error{ErrorCode::internal, "OpenSSL cannot compute SHA-256; check its installation"};
  }
  return out;
}
#endif

Sha256 sha256(std::string_view text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(2 * bytes.size(), '0');
  char* digit = out.data();
  for (const std::uint8_t byte : bytes) {
    *digit++ = kDigits[byte >> 4];
    *digit++ = kDigits[byte & 15];
  }
  return out;
}

std::string Digest::kernel_hex() const { return hex(kernel); }

std::string Digest::toolchain_hex() const { return hex(std::span(toolchain).first(8)); }

std::string serialize(std::span<const KeyField> fields) {
  std::size_t bytes = 0;
  for (const KeyField& field : fields)
    bytes += 2 * kLengthBytes + field.label.size() + field.value.size();
  std::string out;
  out.reserve(bytes);
  for (const KeyField& field : fields) {
    append_sized(out, field.label);
    append_sized(out, field.value);
  }
  return out;
}

std::vector<KeyField> deserialize_fields(std::string_view bytes) {
  std::vector<KeyField> fields;
  while (!bytes.empty()) {
    std::string label = take_sized(bytes);
    std::string value = take_sized(bytes);
    fields.push_back({std::move(label), std::move(value)});
  }
  return fields;
}

Digest digest(const Key& key) {
  Digest out;
  out.kernel = sha256(serialize(key.fields));
  if (!key.toolchain.empty()) out.toolchain = sha256(serialize(key.toolchain));
  return out;
}

}  // namespace kiln
