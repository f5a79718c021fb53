// Fuzzes what decides about signatures: PEM keys, signature blocks, layers of the environment.
// SPDX-License-Identifier: Apache-2.0
#include "cache/pack_keys.hpp"

#include <algorithm>

#include "cache/pack_format.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

void check_block(std::span<const std::byte> bytes) {
  if (const auto block = cache::decode_signature_block(bytes)) {
    expect(std::ranges::equal(cache::encode_signature_block(*block), bytes),
           "a signature block has one spelling");
  }
}

}  // namespace

void keys(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  if (const auto key = cache::public_key_from_pem(text))
    (void)cache::signature_is_right(*key, bytes, {});
  check_block(bytes);
  if (bytes.size() >= 96) {
    cache::Signed made;
    std::ranges::copy(bytes.first(32), reinterpret_cast<std::byte*>(made.key_id.data()));
    std::ranges::copy(bytes.subspan(32, 64), reinterpret_cast<std::byte*>(made.signature.data()));
    check_block(cache::encode_signature_block(made));
  }
  const auto layer = cache::parse_layer(text);
  if (const auto* spec = std::get_if<cache::LayerSpec>(&layer)) {
    expect(text.starts_with(spec->path), "a layer's path is what was written");
  }
}

}  // namespace kiln::fuzz
