// Expanding the lists and ranges of a recipe entry, within bounds.
// SPDX-License-Identifier: Apache-2.0
#include "tools/recipe_expand.hpp"

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln {
namespace {

[[noreturn]] void refuse(std::string detail) {
  throw Error(ErrorCode::invalid_recipe, std::move(detail));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\f\v";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::int64_t number(std::string_view text, std::string_view item) {
  std::int64_t value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || stop != text.data() + text.size()) {
    refuse(
        fmt::format("\"{}\" in \"{}\" is no integer; a range is first..last, first..last..step "
                    "or first..last..*factor",
                    text,
                    item));
  }
  return value;
}

// "1024..8192", "1024..8192..1024" or "1024..8192..*2"; nothing for an item without "..".
std::optional<Range> parse_range(std::string_view item) {
  const std::size_t dots = item.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  Range range;
  range.first = number(trimmed(item.substr(0, dots)), item);
  std::string_view rest = item.substr(dots + 2);
  const std::size_t more = rest.find("..");
  range.last = number(trimmed(rest.substr(0, more)), item);
  if (more == std::string_view::npos) return range;
  const std::string_view by = trimmed(rest.substr(more + 2));
  if (by.starts_with('*')) {
    range.factor = number(trimmed(by.substr(1)), item);
    if (range.factor == 0) refuse(fmt::format("the factor in \"{}\" must be at least 2", item));
  } else {
    range.step = number(by, item);
  }
  return range;
}

// What stands between braces.
std::vector<std::string> parse_choices(std::string_view text) {
  std::vector<std::string> choices;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view item = trimmed(text.substr(0, comma));
    if (item.empty()) refuse("a list in braces has an empty item");
    if (const std::optional<Range> range = parse_range(item)) {
      std::vector<std::string> more = numbers(*range);
      choices.insert(choices.end(),
                     std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
    } else {
      choices.emplace_back(item);
    }
    if (choices.size() > kMaxRecipeSignatures) {
      refuse(fmt::format("a list has more than {} values", kMaxRecipeSignatures));
    }
    if (comma == std::string_view::npos) return choices;
    text.remove_prefix(comma + 1);
  }
}

// The product of the lists' lengths; anything over the bound is the bound and one.
std::size_t size_of(const Pattern& pattern) {
  std::size_t size = 1;
  for (const PatternPiece& piece : pattern) {
    if (piece.choices.empty()) return 0;
    if (size > kMaxRecipeSignatures / piece.choices.size()) return kMaxRecipeSignatures + 1;
    size *= piece.choices.size();
  }
  return size;
}

// Counts up, the last list fastest; false after the last combination.
bool advance(const Pattern& pattern, std::vector<std::size_t>& at) {
  for (std::size_t i = pattern.size(); i-- > 0;) {
    if (++at[i] < pattern[i].choices.size()) return true;
    at[i] = 0;
  }
  return false;
}

// Whether the op, which a colon ends, comes before any list.
bool has_one_op(const Pattern& pattern) {
  for (const PatternPiece& piece : pattern) {
    if (piece.choices.size() != 1) return false;
    if (piece.choices.front().find(':') != std::string::npos) return true;
  }
  return true;
}

std::string spell(const Pattern& pattern, const std::vector<std::size_t>& at) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) text += pattern[i].choices[at[i]];
  return text;
}

}  // namespace

std::vector<std::string> numbers(const Range& range) {
  const bool geometric = range.factor != 0;
  const std::string shown = fmt::format("{}..{}", range.first, range.last);
  if (range.first > range.last) refuse(fmt::format("the range {} goes down", shown));
  if (geometric && (range.factor < 2 || range.first < 1)) {
    refuse(
        fmt::format("the range {} by factors needs a factor of at least 2 and a first number of "
                    "at least 1",
                    shown));
  }
  if (!geometric && range.step < 1) refuse(fmt::format("the step of {} must be at least 1", shown));
  // By factors there are 63 at most.
  const std::uint64_t width =
      static_cast<std::uint64_t>(range.last) - static_cast<std::uint64_t>(range.first);
  if (!geometric && width / static_cast<std::uint64_t>(range.step) >= kMaxRecipeSignatures)
    refuse(fmt::format("the range {} has more than {} numbers", shown, kMaxRecipeSignatures));
  std::vector<std::string> values;
  for (std::int64_t value = range.first;;) {
    values.push_back(fmt::to_string(value));
    const bool over =
        geometric ? value > range.last / range.factor
                  : static_cast<std::uint64_t>(range.last) - static_cast<std::uint64_t>(value) <
                        static_cast<std::uint64_t>(range.step);
    if (over) return values;
    value = geometric ? value * range.factor : value + range.step;
  }
}

Pattern parse_pattern(std::string_view text) {
  Pattern pattern;
  std::size_t at = 0;
  const auto column = [](std::size_t offset) { return fmt::format("column {}", offset + 1); };
  while (at < text.size()) {
    const std::size_t brace = text.find_first_of("{}", at);
    if (brace != at) pattern.push_back({{std::string(text.substr(at, brace - at))}});
    if (brace == std::string_view::npos) break;
    if (text[brace] == '}') refuse(fmt::format("{}: \"}}\" without \"{{\"", column(brace)));
    const std::size_t end = text.find_first_of("{}", brace + 1);
    if (end == std::string_view::npos) refuse(fmt::format("{}: no \"}}\" follows", column(brace)));
    if (text[end] == '{') refuse(fmt::format("{}: a list within a list", column(end)));
    try {
      pattern.push_back({parse_choices(text.substr(brace + 1, end - brace - 1))});
    } catch (const Error& error) {
      refuse(fmt::format("{}: {}", column(brace), error.detail));
    }
    at = end + 1;
  }
  return pattern;
}

void expand_into(Recipe& recipe, const Pattern& pattern, const RecipeEntry& base) {
  const std::size_t size = size_of(pattern);
  if (size > kMaxRecipeSignatures - recipe.tried) {
    add_problem(
        recipe,
        base.line,
        fmt::format("this entry and those before it make more than {} signatures; split the recipe",
                    kMaxRecipeSignatures));
    return;
  }
  std::size_t refused = 0;
  std::string first;
  std::vector<std::size_t> at(pattern.size(), 0);
  for (std::size_t i = 0; i < size; ++i, advance(pattern, at)) {
    ++recipe.tried;
    RecipeEntry entry = base;
    try {
      entry.signature = Signature::parse(spell(pattern, at));
      recipe.entries.push_back(std::move(entry));
    } catch (const Error& error) {
      if (refused++ == 0)
        first = size == 1 ? error.what() : spell(pattern, at) + ": " + error.what();
      if (error.code == ErrorCode::unknown_op && has_one_op(pattern)) {
        refused = size;  // they all name it
        break;
      }
    }
  }
  if (refused == 0) return;
  add_problem(
      recipe,
      base.line,
      size == 1
          ? first
          : fmt::format("{} of {} signatures are refused; the first is {}", refused, size, first));
}

}  // namespace kiln
