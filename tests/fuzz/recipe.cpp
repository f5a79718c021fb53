// Fuzzes recipes: a recipe, or a typed error; what it asks for is canonical.
// SPDX-License-Identifier: Apache-2.0
#include "tools/recipe.hpp"

#include <kiln/error.hpp>

#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

// Ranges and products may expand to this many.
constexpr std::size_t kMostSignatures = 100'000;

void check(std::string_view text, const std::string& name) {
  try {
    const Recipe read = parse_recipe(text, name);
    expect(!read.entries.empty() || !read.problems.empty(), "a recipe is not empty");
    expect(read.entries.size() <= kMostSignatures, "a recipe is bounded");
    // Some of them: a range expands to a hundred thousand.
    for (std::size_t i = 0; i < read.entries.size(); i += 1 + read.entries.size() / 16) {
      const Signature& signature = read.entries[i].signature;
      expect(Signature::parse(signature.text()) == signature, "a recipe's signature is canonical");
    }
  } catch (const Error& error) {
    expect(error.code == ErrorCode::invalid_recipe, "an unusable recipe is an invalid recipe");
  }
}

}  // namespace

void recipe(std::span<const std::byte> bytes) {
  check(text_of(bytes), "fuzzed.json");
  check(text_of(bytes), "fuzzed");
}

}  // namespace kiln::fuzz
