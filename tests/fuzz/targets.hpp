// What is fuzzed: each takes any bytes, and aborts where a promise about its parser is broken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace kiln::fuzz {

// Entries of the cache, as they are and with their checksum made right.
void entry(std::span<const std::byte> bytes);
// Packs, as they are, and built around the bytes with right checksums.
void pack(std::span<const std::byte> bytes);
// Trusted keys, signature blocks and layers of the environment.
void keys(std::span<const std::byte> bytes);
// Recipes, as JSON and as text.
void recipe(std::span<const std::byte> bytes);
// Signatures, as text and as JSON.
void signature(std::span<const std::byte> bytes);

// Descriptions of mix-order reductions, as JSON, and single statements.
void description(std::span<const std::byte> bytes);

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Ends the process with the sentence, which libFuzzer reports and a test shows.
void expect(bool holds, std::string_view sentence);

}  // namespace kiln::fuzz
