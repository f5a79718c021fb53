// Recipes in JSON, through the parser's event interface so that every entry knows its line.
// SPDX-License-Identifier: Apache-2.0
#include "tools/recipe_json.hpp"

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kiln/error.hpp>

namespace kiln {
namespace {

// Counts lines while the parser reads, which is the only way to know where a SAX event happened.
class LineCountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  LineCountingIterator(const char* at, int* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  LineCountingIterator& operator++() {
    if (*at_ == '\n' && line_ != nullptr) ++*line_;
    ++at_;
    return *this;
  }
  LineCountingIterator operator++(int) {
    LineCountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const LineCountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const LineCountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  int* line_;
};

// Where the parser is: depth 1 is the document's object, 2 its "entries" list, 3 one entry.
class RecipeReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  RecipeReader(Recipe& recipe, const int& line) : recipe_(recipe), line_(line) {}

  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("a boolean"); }
  bool number_integer(number_integer_t number) override { return integer(number); }
  bool number_unsigned(number_unsigned_t number) override {
    return integer(number > 1000 ? 1000 : static_cast<number_integer_t>(number));
  }
  bool number_float(number_float_t, const string_t&) override { return value("a number"); }
  bool binary(binary_t&) override { return value("bytes"); }

  bool string(string_t& text) override {
    if (!in_entry_) return value("a string");
    if (key_ == "signature") take_signature(text);
    if (key_ == "model") entry_.model = text;
    if (key_ == "source") entry_.source = text;
    return true;
  }

  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == 1) return true;
    if (depth_ == 3 && in_entries_) {
      in_entry_ = true;
      entry_ = RecipeEntry{};
      entry_.line = line_;
      has_signature_ = false;
      entry_bad_ = false;
      return true;
    }
    return nested("an object");
  }

  bool key(string_t& name) override {
    key_ = name;
    if (in_entry_ && depth_ == 3 && name != "signature" && name != "model" && name != "source") {
      bad(fmt::format("unknown key \"{}\"; an entry has signature, model and source", name));
    }
    return true;
  }

  bool end_object() override {
    if (depth_ == 3 && in_entry_) finish_entry();
    --depth_;
    return true;
  }

  bool start_array(std::size_t) override {
    ++depth_;
    if (depth_ == 2 && key_ == "entries") {
      in_entries_ = true;
      saw_entries = true;
      return true;
    }
    if (depth_ == 1) document_is_array = true;
    return nested("a list");
  }

  bool end_array() override {
    if (depth_ == 2) in_entries_ = false;
    --depth_;
    return true;
  }

  bool parse_error(std::size_t,
                   const std::string&,
                   const nlohmann::json::exception& error) override {
    error_text = error.what();
    return false;
  }

  bool saw_entries = false;
  bool document_is_array = false;
  std::optional<number_integer_t> version;
  std::string error_text;

 private:
  bool integer(number_integer_t number) {
    if (depth_ == 1 && key_ == "version") version = number;
    return value("a number");
  }

  // A scalar where it may be wrong: in an entry, or in the list where an entry belongs.
  bool value(const char* what) {
    if (in_entry_ && depth_ == 3) bad(fmt::format("\"{}\" is {}; it must be a string", key_, what));
    if (in_entries_ && depth_ == 2) {
      recipe_.problems.push_back(
          {line_, fmt::format("an entry is {}; it must be an object", what)});
    }
    return true;
  }

  bool nested(const char* what) {
    if (in_entry_ && depth_ == 4) bad(fmt::format("\"{}\" is {}; it must be a string", key_, what));
    if (in_entries_ && !in_entry_ && depth_ == 3) {
      recipe_.problems.push_back(
          {line_, fmt::format("an entry is {}; it must be an object", what)});
    }
    return true;
  }

  void bad(std::string detail) {
    if (!entry_bad_) recipe_.problems.push_back({line_, std::move(detail)});
    entry_bad_ = true;
  }

  void take_signature(const std::string& text) {
    if (depth_ != 3) return;
    if (has_signature_) return bad("\"signature\" is given twice");
    has_signature_ = true;
    entry_.line = line_;
    try {
      entry_.signature = Signature::parse(text);
    } catch (const Error& error) {
      bad(error.what());
    }
  }

  void finish_entry() {
    in_entry_ = false;
    if (!has_signature_ && !entry_bad_) bad("the entry has no \"signature\"");
    if (!entry_bad_) recipe_.entries.push_back(std::move(entry_));
  }

  Recipe& recipe_;
  const int& line_;
  int depth_ = 0;
  bool in_entries_ = false;
  bool in_entry_ = false;
  bool has_signature_ = false;
  bool entry_bad_ = false;
  std::string key_;
  RecipeEntry entry_;
};

}  // namespace

void parse_recipe_json(std::string_view text, Recipe& recipe) {
  int line = 1;
  RecipeReader reader(recipe, line);
  const char* begin = text.data();
  const bool parsed = nlohmann::json::sax_parse(LineCountingIterator(begin, &line),
                                                LineCountingIterator(begin + text.size(), nullptr),
                                                &reader);
  if (!parsed)
    refuse_recipe(recipe.name, fmt::format("not JSON (line {}): {}", line, reader.error_text));
  if (reader.document_is_array || !reader.saw_entries) {
    refuse_recipe(recipe.name, "not a recipe; it must be {\"version\": 1, \"entries\": [...]}");
  }
  if (reader.version != kRecipeVersion) {
    refuse_recipe(recipe.name,
                  fmt::format("\"version\" must be {}, the one this kiln reads", kRecipeVersion));
  }
}

}  // namespace kiln
