// A recipe: the signatures to warm a cache for, read from JSON or from plain text, with line
// numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/signature.hpp>

namespace kiln {

struct RecipeEntry {
  Signature signature;
  std::string model;   // what the kernel is for; may be empty
  std::string source;  // where its numbers come from; may be empty
  int line = 0;        // from 1

  bool operator==(const RecipeEntry&) const = default;
};

// One bad line among good ones: the rest of the recipe is still usable.
struct RecipeProblem {
  int line = 0;
  std::string detail;

  bool operator==(const RecipeProblem&) const = default;
};

struct Recipe {
  std::string name;  // for messages
  std::vector<RecipeEntry> entries;
  std::vector<RecipeProblem> problems;
  std::size_t tried = 0;  // signatures that were spelt out, whether they became entries or not
};

inline constexpr int kRecipeVersion = 1;
// What all entries of a recipe may expand to, refused combinations included.
inline constexpr std::size_t kMaxRecipeSignatures = 100'000;
// More bad entries than anybody reads: the whole is unusable.
inline constexpr std::size_t kMaxRecipeProblems = 1000;

// JSON: {"version": 1, "entries": [{"signature": "op:key=value", "model": "...", "source": "..."},
// {"op": "...", "keys": {"n": [4096, {"from": 8192, "to": 65536, "times": 2}], "x": "bf16"}},
// ...]}. Plain text: one signature a line, `#` starts a comment. Text is JSON when `name` ends in
// ".json" or its first character is '{' or '['. In a signature a value may be a list of values and
// ranges, "n={4096,8192..65536..*2}"; every combination is one entry (docs/fleet.md). A bad entry
// becomes a RecipeProblem; throws Error{invalid_recipe} when the whole is unusable: not JSON, no
// "entries", another version, empty, more than kMaxRecipeProblems bad entries.
[[nodiscard]] Recipe parse_recipe(std::string_view text, const std::string& name);

// For the parts that read recipes: notes a bad entry, or throws Error{invalid_recipe} after too
// many.
void add_problem(Recipe& recipe, int line, std::string detail);

// Throws Error{invalid_recipe} when the file cannot be read: absent, a folder, larger than 16 MiB.
[[nodiscard]] Recipe read_recipe(const std::string& path);

}  // namespace kiln
