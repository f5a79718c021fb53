// Ed25519 keys: whose packs may be loaded. Key files are PEM.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cache/layout.hpp"
#include "src/core/digest.hpp"

namespace kiln::cache {

// What a layer's signature is for: nothing, a warning, or being used at all.
enum class SignaturePolicy { off, warn, require };

struct SignatureCheck {
  SignaturePolicy policy = SignaturePolicy::off;
  std::string trusted_keys;  // a folder of public keys, *.pem; empty: no key is trusted
};

// "off", "warn", "require"; nothing for other text.
[[nodiscard]] std::optional<SignaturePolicy> parse_signature_policy(std::string_view text) noexcept;
[[nodiscard]] std::string_view text_of(SignaturePolicy policy) noexcept;

// One of KILN_CACHE_LAYERS: "path" or "path?sign=off|warn|require".
struct LayerSpec {
  std::string path;
  SignaturePolicy policy = SignaturePolicy::off;
};
[[nodiscard]] std::variant<LayerSpec, Problem> parse_layer(std::string_view text);

using Ed25519Public = std::array<std::uint8_t, 32>;
using Ed25519Signature = std::array<std::uint8_t, 64>;

// SHA-256 of the raw public key.
[[nodiscard]] Sha256 key_id(const Ed25519Public& key);

struct TrustedKey {
  std::string path;
  Sha256 id{};
  Ed25519Public key{};
};

// Writes <path> (private, 0600) and <path>.pub (public); replaces neither. The key id as 64 hex
// digits, or why not.
[[nodiscard]] std::variant<std::string, Problem> make_key_pair(const std::string& path);

// Copies a public key into the trusted folder as <key id>.pem, making the folder when missing. The
// key id, or why not.
[[nodiscard]] std::variant<std::string, Problem> trust_key(const std::string& public_key,
                                                           const std::string& folder);

// The public keys of a folder, and what is in it that is none. A folder that others can write is a
// problem and gives no keys; a folder that is missing gives neither.
struct TrustedKeys {
  std::vector<TrustedKey> keys;
  std::vector<Problem> problems;
};
[[nodiscard]] TrustedKeys read_trusted_keys(const std::string& folder);

[[nodiscard]] std::variant<Ed25519Public, Problem> read_public_key(const std::string& path);
// Total: any text gives a key or nothing.
[[nodiscard]] std::optional<Ed25519Public> public_key_from_pem(std::string_view pem);

struct Signed {
  Sha256 key_id{};
  Ed25519Signature signature{};
};
[[nodiscard]] std::variant<Signed, Problem> sign_with(const std::string& private_key,
                                                      std::span<const std::byte> message);
[[nodiscard]] bool signature_is_right(const Ed25519Public& key,
                                      std::span<const std::byte> message,
                                      const Ed25519Signature& signature) noexcept;

}  // namespace kiln::cache
