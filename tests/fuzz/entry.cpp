// Fuzzes decode_entry: what decodes can be encoded, and is the same entry then.
// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.hpp"

#include <algorithm>

#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

void check(std::span<const std::byte> bytes) {
  const auto decoded = cache::decode_entry(bytes);
  const auto* entry = std::get_if<cache::Entry>(&decoded);
  if (entry == nullptr) return;
  const auto encoded = cache::encode_entry(*entry);
  const auto* again = std::get_if<std::vector<std::byte>>(&encoded);
  expect(again != nullptr, "an entry that was read can be written");
  const auto twice = cache::decode_entry(*again);
  expect(std::holds_alternative<cache::Entry>(twice) && std::get<cache::Entry>(twice) == *entry,
         "an entry that was written is the same when it is read");
}

}  // namespace

void entry(std::span<const std::byte> bytes) {
  check(bytes);
  // Nothing found by chance gets past SHA-256; a forger does.
  if (bytes.size() < cache::kHeaderBytes + cache::kTrailerBytes) return;
  std::vector<std::byte> forged(bytes.begin(), bytes.end());
  const std::size_t covered = forged.size() - cache::kTrailerBytes;
  const Sha256 sum = sha256(std::span<const std::byte>(forged).first(covered));
  std::ranges::copy(std::as_bytes(std::span(sum)),
                    forged.begin() + static_cast<std::ptrdiff_t>(covered));
  check(forged);
}

}  // namespace kiln::fuzz
