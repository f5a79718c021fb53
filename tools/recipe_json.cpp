// Recipes in JSON, through the parser's event interface so that every entry knows its line.
// SPDX-License-Identifier: Apache-2.0
#include "tools/recipe_json.hpp"

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kiln/error.hpp>

#include "tools/recipe_entry.hpp"

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

// Where the parser is: depth 1 is the document's object, 2 its "entries" list, 3 one entry, which
// is collected and read when it ends.
class RecipeReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  RecipeReader(Recipe& recipe, const int& line) : recipe_(recipe), line_(line) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool flag) override { return value(flag); }
  bool number_integer(number_integer_t number) override { return value(number); }
  bool number_unsigned(number_unsigned_t number) override { return value(number); }
  bool number_float(number_float_t number, const string_t&) override { return value(number); }
  bool binary(binary_t&) override { return value(nullptr); }
  bool string(string_t& text) override { return value(text); }

  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == 3 && in_entries_) {
      entry_ = Json::object();
      open_ = {&entry_};
      entry_line_ = 0;
      entry_problem_.clear();
      return true;
    }
    return open(Json::object());
  }

  bool key(string_t& name) override {
    key_ = name;
    if (!open_.empty() && open_.back()->contains(name)) {
      bad(fmt::format("\"{}\" is given twice", name));
    }
    if (depth_ == 3 && in_entries_ && (name == "signature" || name == "op")) entry_line_ = line_;
    return true;
  }

  bool end_object() override {
    if (depth_ == 3 && !open_.empty()) finish_entry();
    close();
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
    return open(Json::array());
  }

  bool end_array() override {
    if (depth_ == 2) in_entries_ = false;
    close();
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
  Json version;
  std::string error_text;

 private:
  // Deeper than any entry needs; further levels are counted and dropped.
  static constexpr int kDeepest = 6;

  void add(Json value, bool opens) {
    Json& parent = *open_.back();
    Json* place = nullptr;
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      place = &parent.back();
    } else {
      place = &(parent[key_] = std::move(value));
    }
    if (opens) open_.push_back(place);
  }

  bool value(Json scalar) {
    if (depth_ == 1 && key_ == "version") version = scalar;
    if (in_entries_ && depth_ == 2) misplaced();
    if (!open_.empty() && depth_ <= kDeepest) add(std::move(scalar), false);
    return true;
  }

  bool open(Json empty) {
    if (in_entries_ && depth_ == 3) misplaced();
    if (!open_.empty() && depth_ > kDeepest) bad("lists within lists within lists");
    if (!open_.empty() && depth_ <= kDeepest) add(std::move(empty), true);
    return true;
  }

  void close() {
    if (!open_.empty() && depth_ <= kDeepest) open_.pop_back();
    --depth_;
  }

  // Something in the list where an entry belongs.
  void misplaced() {
    add_problem(recipe_, line_, "an entry must be an object: {\"signature\": \"...\"}");
  }

  void bad(std::string detail) {
    if (entry_problem_.empty()) entry_problem_ = std::move(detail);
  }

  void finish_entry() {
    const int line = entry_line_ > 0 ? entry_line_ : line_;
    if (!entry_problem_.empty()) {
      add_problem(recipe_, line, std::exchange(entry_problem_, {}));
      return;
    }
    add_recipe_entry(recipe_, entry_, line);
  }

  Recipe& recipe_;
  const int& line_;
  int depth_ = 0;
  bool in_entries_ = false;
  std::string key_;
  Json entry_;
  std::vector<Json*> open_;  // of the entry, from itself to the innermost list or object
  int entry_line_ = 0;
  std::string entry_problem_;
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
  if (reader.version != Json(kRecipeVersion)) {
    refuse_recipe(recipe.name,
                  fmt::format("\"version\" must be {}, the one this kiln reads", kRecipeVersion));
  }
}

}  // namespace kiln
