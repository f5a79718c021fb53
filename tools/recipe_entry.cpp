// From the JSON of a recipe entry to the pattern it stands for.
// SPDX-License-Identifier: Apache-2.0
#include "tools/recipe_entry.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/recipe_expand.hpp"

namespace kiln {
namespace {

[[noreturn]] void refuse(std::string detail) {
  throw Error(ErrorCode::invalid_recipe, std::move(detail));
}

std::string text_of(const Json& entry, const char* name) {
  const auto found = entry.find(name);
  if (found == entry.end()) return {};
  if (!found->is_string()) refuse(fmt::format("\"{}\" must be a string", name));
  return found->get<std::string>();
}

// Signs of the text form must not come in through a value.
void check_plain(std::string_view text, std::string_view what) {
  if (text.empty() || text.find_first_of(":,={}") != std::string_view::npos) {
    refuse(fmt::format("{} \"{}\" must be a word or a number", what, text));
  }
}

std::int64_t integer(const Json& range, const char* name, const std::string& key) {
  const auto found = range.find(name);
  if (found == range.end() || !found->is_number_integer() ||
      (found->is_number_unsigned() &&
       found->get<std::uint64_t>() >
           static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))) {
    refuse(fmt::format("the range of \"{}\" needs an integer \"{}\"", key, name));
  }
  return found->get<std::int64_t>();
}

Range range_of(const Json& json, const std::string& key) {
  for (const auto& [name, value] : json.items()) {
    if (name != "from" && name != "to" && name != "step" && name != "times") {
      refuse(fmt::format("a range has from, to, and step or times; \"{}\" has \"{}\"", key, name));
    }
  }
  Range range;
  range.first = integer(json, "from", key);
  range.last = integer(json, "to", key);
  if (json.contains("step") && json.contains("times"))
    refuse(fmt::format("the range of \"{}\" has a step and a factor; give one", key));
  if (json.contains("step")) range.step = integer(json, "step", key);
  if (json.contains("times")) {
    range.factor = integer(json, "times", key);
    if (range.factor < 2) refuse(fmt::format("\"times\" of \"{}\" must be at least 2", key));
  }
  return range;
}

void add_value(std::vector<std::string>& choices, const Json& value, const std::string& key) {
  if (value.is_object()) {
    std::vector<std::string> more = numbers(range_of(value, key));
    choices.insert(
        choices.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  } else if (value.is_string()) {
    check_plain(value.get_ref<const std::string&>(), fmt::format("the value of \"{}\":", key));
    choices.push_back(value.get<std::string>());
  } else if (value.is_number_integer() || value.is_boolean()) {
    choices.push_back(value.is_boolean() ? (value.get<bool>() ? "1" : "0") : value.dump());
  } else {
    refuse(fmt::format("\"{}\" must be an integer, a word, true, false, a list or a range", key));
  }
  if (choices.size() > kMaxRecipeSignatures)
    refuse(fmt::format("\"{}\" has more than {} values", key, kMaxRecipeSignatures));
}

Pattern pattern_of(const Json& entry) {
  const std::string op = text_of(entry, "op");
  check_plain(op, "the op");
  const auto keys = entry.find("keys");
  if (keys == entry.end() || !keys->is_object())
    refuse("an entry with an \"op\" needs \"keys\": {\"n\": 4096, ...}");
  Pattern pattern{{{op}}};
  char separator = ':';
  for (const auto& [key, value] : keys->items()) {
    check_plain(key, "the key");
    pattern.push_back({{fmt::format("{}{}=", separator, key)}});
    separator = ',';
    std::vector<std::string> choices;
    if (value.is_array()) {
      for (const Json& each : value) add_value(choices, each, key);
      if (choices.empty()) refuse(fmt::format("the list of \"{}\" is empty", key));
    } else {
      add_value(choices, value, key);
    }
    pattern.push_back({std::move(choices)});
  }
  return pattern;
}

void check_members(const Json& entry) {
  constexpr std::array<std::string_view, 5> kKnown{"signature", "op", "keys", "model", "source"};
  for (const auto& [name, value] : entry.items()) {
    if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) {
      refuse(fmt::format(
          "unknown key \"{}\"; an entry has signature, or op and keys, and model and source",
          name));
    }
  }
  const bool patterned = entry.contains("op") || entry.contains("keys");
  if (!entry.contains("signature") && !patterned) refuse("the entry has no \"signature\"");
  if (entry.contains("signature") && patterned)
    refuse("the entry has a \"signature\" and an \"op\"; give one");
}

}  // namespace

void add_recipe_entry(Recipe& recipe, const Json& entry, int line) {
  RecipeEntry base;
  Pattern pattern;
  try {
    check_members(entry);
    base = {{}, text_of(entry, "model"), text_of(entry, "source"), line};
    pattern = entry.contains("signature") ? parse_pattern(text_of(entry, "signature"))
                                          : pattern_of(entry);
  } catch (const Error& error) {
    add_problem(recipe, line, error.detail);
    return;
  }
  expand_into(recipe, pattern, base);
}

}  // namespace kiln
