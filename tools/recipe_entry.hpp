// One entry of a JSON recipe, once it has been read whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "tools/recipe.hpp"

namespace kiln {

// Keys keep the order they were written in, so that the last list varies fastest as in text.
using Json = nlohmann::ordered_json;

// Adds the signatures of an entry, or a problem of that line:
//   {"signature": "op:key=value", "model": "...", "source": "..."}
//   {"op": "...", "keys": {"key": value or [value or range, ...] or range}, ...}, where a range is
//   {"from": 1024, "to": 8192, "step": 1024} or {"from": 1024, "to": 8192, "times": 2}.
void add_recipe_entry(Recipe& recipe, const Json& entry, int line);

}  // namespace kiln
