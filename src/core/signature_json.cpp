// The JSON form of a signature: one flat object, {"op": "...", "key": value, ...}.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>

#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/core/canonical.hpp"
#include "src/core/diagnostics.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestJson = 65536;

[[noreturn]] void refuse(std::string_view problem) {
  throw Error{
      ErrorCode::invalid_signature,
      fmt::format("{}; the JSON form is {{\"op\": \"...\", \"key\": value, ...}}", problem)};
}

// Takes tokens as they come, so that duplicate keys and nested values are seen and deep nesting
// costs nothing.
class Handler : public nlohmann::json_sax<Json> {
 public:
  std::optional<std::string> op;
  std::vector<GivenKey> given;

  bool null() override { reject("null"); }
  bool boolean(bool value) override { return add(value ? "true" : "false", true); }
  bool number_integer(number_integer_t value) override { return add(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(std::to_string(value)); }
  // Fractions, exponents and integers above 64 bits: the digits as written, which no key takes.
  bool number_float(number_float_t /*value*/, const string_t& text) override { return add(text); }
  bool string(string_t& value) override { return add(value, false, true); }
  bool binary(binary_t& /*value*/) override { reject("binary data"); }
  bool start_object(std::size_t /*elements*/) override {
    if (depth_++ > 0) reject("an object");
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*elements*/) override { reject("an array"); }
  bool end_array() override { return true; }
  bool key(string_t& name) override {
    key_ = name;
    return true;
  }
  bool parse_error(std::size_t position,
                   const std::string& /*last_token*/,
                   const nlohmann::detail::exception& /*failure*/) override {
    refuse(fmt::format("column {}: this is not valid JSON", position));
  }

 private:
  // A value that can never be right.
  [[noreturn]] void reject(std::string_view what) const {
    if (depth_ == 0) refuse(fmt::format("this JSON text is {}, not an object", what));
    refuse(fmt::format(
        "key {} holds {}; values are strings, integers, true and false", quote(key_), what));
  }

  bool add(std::string value, bool boolean_value = false, bool text = false) {
    if (depth_ == 0) refuse("this JSON text is one value, not an object");
    if (key_ != "op") {
      GivenKey item;
      item.key = key_;
      item.value = std::move(value);
      item.boolean = boolean_value;
      given.push_back(std::move(item));
      return true;
    }
    if (!text) refuse("\"op\" is not a string");
    if (op) refuse("key \"op\" is given twice; give it once");
    op = std::move(value);
    return true;
  }

  std::string key_;
  int depth_ = 0;
};

// Canonical integers and flags become JSON numbers, everything else strings.
Json json_value(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  const bool integer = failure == std::errc() && stop == end && std::to_string(number) == text;
  return integer ? Json(number) : Json(text);
}

}  // namespace

Signature parse_signature_json(std::string_view json, const KnownOp& known_op) {
  if (json.size() > kLongestJson) {
    refuse(fmt::format("{} bytes are too long for a signature", json.size()));
  }
  Handler handler;
  Json::sax_parse(json.begin(), json.end(), &handler);
  if (!handler.op) refuse("there is no \"op\"");
  return canonicalise(known_op(*handler.op, ""), handler.given);
}

Signature parse_signature_json(std::string_view json, std::span<const OpSpec* const> ops) {
  return parse_signature_json(json,
                              [&](std::string_view name, std::string_view where) -> const OpSpec& {
                                return find_op(name, where, ops);
                              });
}

std::string Signature::json() const {
  Json object = Json::object();
  object["op"] = op;
  for (const auto& [key, value_text] : keys) object[key] = json_value(value_text);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kiln
