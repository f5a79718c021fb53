// Many signatures out of one recipe entry: lists, ranges, and the product of the keys that have
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/recipe.hpp"

namespace kiln {

// A piece of a signature's text: one choice is plain text, several are a list or a range.
struct PatternPiece {
  std::vector<std::string> choices;
};
using Pattern = std::vector<PatternPiece>;

// A range with both ends in it: from, from + step ...; or from, from * factor ... (step 0).
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
  std::int64_t factor = 0;  // at least 2; 0: use step
};

// The range's numbers. Throws Error{invalid_recipe} when it goes nowhere (first above last, a step
// below 1, a factor below 2 or of a first below 1) or has more than kMaxRecipeSignatures.
[[nodiscard]] std::vector<std::string> numbers(const Range& range);

// "op:n={1024..8192..1024,5120},x={bf16,f16}" as pieces. Throws Error{invalid_recipe} naming the
// column.
[[nodiscard]] Pattern parse_pattern(std::string_view text);

// Adds every signature of the pattern to the recipe, the last list varying fastest, each with the
// base's line, model and source. Signatures that are refused become one problem of that line; the
// others are added all the same. An op that is unknown is tried once. Nothing is added when the
// recipe would ask for more than kMaxRecipeSignatures, those that are refused included.
void expand_into(Recipe& recipe, const Pattern& pattern, const RecipeEntry& base);

}  // namespace kiln
