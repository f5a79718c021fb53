// In what two keys differ, for people.
// SPDX-License-Identifier: Apache-2.0
#include "cache/difference.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

namespace kiln::cache {
namespace {

constexpr std::size_t kShown = 120;

// Keys out of a file may hold any bytes.
std::string shown(std::string_view text) {
  std::string safe;
  for (const char c : text.substr(0, kShown)) {
    safe += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return text.size() > kShown ? safe + "..." : safe;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string source_difference(const std::string& label, std::string_view a, std::string_view b) {
  for (int line = 1;; ++line) {
    const bool a_ends = a.empty();
    const bool b_ends = b.empty();
    const std::string_view of_a = take_line(a);
    const std::string_view of_b = take_line(b);
    const std::string where = label + ", line " + std::to_string(line) + ": ";
    if (a_ends && b_ends) return label + ": other line ends";
    if (a_ends) return where + "the end, not \"" + shown(of_b) + "\"";
    if (b_ends) return where + "\"" + shown(of_a) + "\", not the end";
    if (of_a != of_b) return where + "\"" + shown(of_a) + "\", not \"" + shown(of_b) + "\"";
  }
}

// "header" is repeated, with "<sha256> <name>"; "option" is repeated, in order.
using Values = std::map<std::string, std::string>;

Values values_of(std::span<const KeyField> fields) {
  Values values;
  std::string options;
  for (const KeyField& field : fields) {
    if (field.label == "header") {
      const std::size_t space = std::min(field.value.find(' '), field.value.size());
      values["header " +
             shown(std::string_view(field.value).substr(std::min(space + 1, field.value.size())))] =
          field.value.substr(0, space);
    } else if (field.label == "option") {
      options += (options.empty() ? "" : " ") + field.value;
    } else {
      values[field.label] = field.value;
    }
  }
  if (!options.empty()) values["option"] = options;
  return values;
}

std::string difference(const std::string& label, const std::string& a, const std::string& b) {
  if (label == "source") return source_difference(label, a, b);
  if (label.starts_with("header "))
    return label + ": other content (" + a.substr(0, 12) + ", not " + b.substr(0, 12) + ")";
  return label + ": " + shown(a) + ", not " + shown(b);
}

void compare(const Values& a, const Values& b, std::vector<std::string>& lines) {
  for (const auto& [label, value] : a) {
    const auto other = b.find(label);
    if (other == b.end()) {
      lines.push_back(label + ": only in the first");
    } else if (value != other->second) {
      lines.push_back(difference(label, value, other->second));
    }
  }
  for (const auto& [label, value] : b) {
    if (!a.contains(label)) lines.push_back(label + ": only in the second");
  }
}

}  // namespace

std::vector<std::string> differences(const Key& a, const Key& b) {
  std::vector<std::string> lines;
  compare(values_of(a.fields), values_of(b.fields), lines);
  if (!a.toolchain.empty() && !b.toolchain.empty())
    compare(values_of(a.toolchain), values_of(b.toolchain), lines);
  if (lines.empty() && a.fields != b.fields) lines.emplace_back("the order of the fields");
  return lines;
}

std::string_view field_of(const Key& key, std::string_view label) noexcept {
  const auto found = std::ranges::find(key.fields, label, &KeyField::label);
  return found == key.fields.end() ? std::string_view() : std::string_view(found->value);
}

}  // namespace kiln::cache
