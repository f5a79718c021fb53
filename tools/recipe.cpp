// Reading recipe files, and their plain text form.
// SPDX-License-Identifier: Apache-2.0
#include "tools/recipe.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/core/named_file.hpp"
#include "tools/recipe_expand.hpp"
#include "tools/recipe_json.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMaxRecipeBytes = 16u << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\f\v";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

void parse_lines(std::string_view text, Recipe& recipe) {
  if (text.find('\0') != std::string_view::npos) {
    refuse_recipe(recipe.name, "neither JSON nor text: it holds a zero byte");
  }
  int line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = text.find('\n');
    std::string_view content = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    content = trimmed(content.substr(0, content.find('#')));
    if (content.empty()) continue;
    Pattern pattern;
    try {
      pattern = parse_pattern(content);
    } catch (const Error& error) {
      add_problem(recipe, line, error.detail);
      continue;
    }
    expand_into(recipe, pattern, {{}, {}, {}, line});
  }
}

bool is_json(std::string_view text, std::string_view name) {
  if (name.size() >= 5 && name.substr(name.size() - 5) == ".json") return true;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

void refuse_recipe(const std::string& name, const std::string& detail) {
  throw Error(ErrorCode::invalid_recipe, fmt::format("{}: {}", name, detail));
}

void add_problem(Recipe& recipe, int line, std::string detail) {
  if (recipe.problems.size() == kMaxRecipeProblems) {
    refuse_recipe(
        recipe.name,
        fmt::format("more than {} bad entries; this is no recipe, or one of another kiln: "
                    "line {}: {}",
                    kMaxRecipeProblems,
                    line,
                    detail));
  }
  recipe.problems.push_back({line, std::move(detail)});
}

Recipe parse_recipe(std::string_view text, const std::string& name) {
  Recipe recipe;
  recipe.name = name;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    text.remove_prefix(kByteOrderMark.size());
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    refuse_recipe(name,
                  "empty; write one signature a line, or {\"version\": 1, \"entries\": [...]}");
  }
  is_json(text, name) ? parse_recipe_json(text, recipe) : parse_lines(text, recipe);
  if (recipe.entries.empty() && recipe.problems.empty()) refuse_recipe(name, "it has no entries");
  return recipe;
}

Recipe read_recipe(const std::string& path) {
  const NamedFile file = read_named_file(path, kMaxRecipeBytes);
  if (!file.problem.empty())
    refuse_recipe(path, fmt::format("no recipe can be read from it: {}", file.problem));
  return parse_recipe(file.text, path);
}

}  // namespace kiln
