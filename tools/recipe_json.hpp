// The JSON form of recipes, apart from the rest because the JSON library is slow to compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "tools/recipe.hpp"

namespace kiln {

// Adds entries and problems; throws Error{invalid_recipe} when the whole is unusable.
void parse_recipe_json(std::string_view text, Recipe& recipe);

// Throws Error{invalid_recipe} with the recipe's name.
[[noreturn]] void refuse_recipe(const std::string& name, const std::string& detail);

}  // namespace kiln
