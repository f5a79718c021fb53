// Descriptions from JSON: the structure here, the meaning of the formula in check.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/description.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/check.hpp"
#include "kernels/mix_order_reduction/keys.hpp"
#include "src/core/diagnostics.hpp"

namespace kiln::mix_order_reduction {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestJson = 1 << 16;
constexpr int kDeepestJson = 8;
constexpr int kVersion = 1;

[[noreturn]] void fail(std::string_view place, std::string_view problem) {
  throw Error(ErrorCode::invalid_source, fmt::format("{}: {}", place, problem));
}

// Refuses what a document object model hides: a key given twice, and depth without end.
class Structure {
 public:
  explicit Structure(std::string_view where) : where_(where) {}

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepestJson) fail(where_, "the JSON is nested too deep for a description");
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(name).second)
        fail(where_, fmt::format("key {} is given twice; give it once", quote(name)));
    }
    return true;
  }

 private:
  std::string_view where_;
  std::vector<std::set<std::string>> keys_;
};

Json read(std::string_view text, std::string_view where) {
  if (text.size() > kLongestJson)
    fail(where, fmt::format("a description has at most {} bytes", kLongestJson));
  try {
    return Json::parse(text, Structure(where));
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    fail(where,
         fmt::format("line {}, column {}: this is not valid JSON", line + 1, at - start + 1));
  } catch (const Json::out_of_range&) {
    fail(where, "a number is too large; a description needs none but its version");
  }
}

// One object of the document, and what may be in it.
class Object {
 public:
  Object(const Json& json, std::string place, std::span<const std::string_view> known)
      : json_(json), place_(std::move(place)) {
    if (!json.is_object()) fail(place_, "an object is needed here");
    for (const auto& [key, value] : json.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      fail(place_,
           fmt::format("there is no key {}{}; there are {}",
                       quote(key),
                       did_you_mean(key, known),
                       listed(known)));
    }
  }

  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] std::string text(const char* key, bool required) const {
    const Json* value = find(key, required);
    if (value == nullptr) return {};
    if (!value->is_string()) fail(place_, fmt::format("{} must be a string", quote(key)));
    return value->get<std::string>();
  }
  [[nodiscard]] const Json& list(const char* key, std::size_t most) const {
    const Json* value = find(key, true);
    if (!value->is_array()) fail(place_, fmt::format("{} must be a list", quote(key)));
    if (value->empty() || value->size() > most)
      fail(place_, fmt::format("{} holds {}; 1 to {} are served", quote(key), value->size(), most));
    return *value;
  }
  void version() const {
    const Json* value = find("version", true);
    if (!value->is_number_integer() || *value != kVersion)
      fail(place_, fmt::format("\"version\" must be {}", kVersion));
  }
  // The index of the value among the choices; of the first when it is left out.
  [[nodiscard]] std::size_t choice(const char* key,
                                   bool required,
                                   std::span<const std::string_view> choices) const {
    const std::string value = text(key, required);
    if (value.empty() && !required) return 0;
    const auto found = std::find(choices.begin(), choices.end(), value);
    if (found == choices.end()) {
      fail(place_,
           fmt::format("{} is {}{}; there are {}",
                       quote(key),
                       quote(value),
                       did_you_mean(value, choices),
                       listed(choices)));
    }
    return static_cast<std::size_t>(found - choices.begin());
  }
  // A name, or nothing where it is left out.
  [[nodiscard]] std::string name(const char* key, bool required) const {
    std::string value = text(key, required);
    if (value.empty() && !required) return value;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const bool good = !value.empty() && value.size() <= 64 && letter(value[0]) &&
                      std::all_of(value.begin(), value.end(), [&](char c) {
                        return letter(c) || (c >= '0' && c <= '9') || c == '_';
                      });
    if (!good) {
      fail(place_,
           fmt::format("{} is {}: a name is a letter, then letters, digits and \"_\", 64 at most",
                       quote(key),
                       quote(value)));
    }
    return value;
  }

 private:
  const Json* find(const char* key, bool required) const {
    const auto found = json_.find(key);
    if (found != json_.end()) return &*found;
    if (required) fail(place_, fmt::format("{} is missing", quote(key)));
    return nullptr;
  }

  const Json& json_;
  std::string place_;
};

TensorDescription tensor(const Json& json, const std::string& place, bool output) {
  static constexpr std::array<std::string_view, 5> kInputKeys{
      "name", "shape", "type", "given", "fill"};
  static constexpr std::array<std::string_view, 5> kOutputKeys{
      "name", "shape", "type", "given", "accumulate"};
  static constexpr std::array<std::string_view, 4> kShapes{"matrix", "row", "column", "scalar"};
  static constexpr std::array kExtents{Extent::matrix, Extent::row, Extent::column, Extent::scalar};
  static constexpr std::array<std::string_view, 3> kFills{"normal", "positive", "small"};
  static constexpr std::array kFillValues{Fill::normal, Fill::positive, Fill::small};
  const Object object(json, place, output ? kOutputKeys : kInputKeys);
  TensorDescription out;
  out.name = object.name("name", true);
  // A scalar is given to a launch, not made by it.
  out.extent = kExtents[object.choice("shape", true, std::span(kShapes).first(output ? 3 : 4))];
  out.type = object.name("type", true);
  out.given = object.name("given", false);
  if (output) {
    out.accumulate = object.name("accumulate", false);
    out.fill = Fill::zero;
  } else {
    out.fill = kFillValues[object.choice("fill", false, kFills)];
  }
  return out;
}

KeyDescription key(const Json& json, const std::string& place) {
  static constexpr std::array<std::string_view, 3> kKeys{"name", "default", "doc"};
  const Object object(json, place, kKeys);
  return {.name = object.name("name", true),
          .default_value = object.text("default", false),
          .doc = object.text("doc", false)};
}

}  // namespace

std::string_view to_string(Extent extent) noexcept {
  switch (extent) {
    case Extent::scalar:
      return "scalar";
    case Extent::row:
      return "row";
    case Extent::column:
      return "column";
    case Extent::matrix:
      return "matrix";
  }
  return "?";
}

Extent joined(Extent left, Extent right) {
  const bool columns = varies_over_columns(left) || varies_over_columns(right);
  const bool rows = varies_over_rows(left) || varies_over_rows(right);
  if (columns) return rows ? Extent::matrix : Extent::row;
  return rows ? Extent::column : Extent::scalar;
}

std::string Description::place(std::size_t statement) const {
  return fmt::format("{}, formula {}", where, statement + 1);
}

Description parse_description(std::string_view json, std::string_view where) {
  static constexpr std::array<std::string_view, 7> kKeys{
      "version", "op", "summary", "keys", "inputs", "formula", "outputs"};
  const Json document = read(json, where);
  const Object object(document, std::string(where), kKeys);
  object.version();
  Description out;
  out.where = where;
  out.op = object.name("op", true);
  out.summary = object.text("summary", false);
  if (document.contains("keys")) {
    for (const Json& one : object.list("keys", kMaxTensors))
      out.keys.push_back(key(one, fmt::format("{}, key {}", where, out.keys.size() + 1)));
  }
  for (const Json& one : object.list("inputs", kMaxTensors)) {
    out.inputs.push_back(
        tensor(one, fmt::format("{}, input {}", where, out.inputs.size() + 1), false));
  }
  for (const Json& one : object.list("formula", kMaxStatements)) {
    const std::string place = out.place(out.formula.size());
    if (!one.is_string()) fail(place, "a statement is a string, \"name = expression\"");
    out.formula.push_back(parse_statement(one.get_ref<const std::string&>(), place));
  }
  for (const Json& one : object.list("outputs", kMaxTensors)) {
    out.outputs.push_back(
        tensor(one, fmt::format("{}, output {}", where, out.outputs.size() + 1), true));
  }
  check(out);
  complete_keys(out);
  for (const auto* tensors : {&out.inputs, &out.outputs}) {
    for (const TensorDescription& t : *tensors)
      out.names += (out.names.empty() ? "" : ", ") + t.name;
  }
  return out;
}

}  // namespace kiln::mix_order_reduction
