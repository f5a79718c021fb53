// Canonical spelling of values, defaults, and the errors that say what is known.
// SPDX-License-Identifier: Apache-2.0
#include "src/core/canonical.hpp"

#include <kiln/error.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "src/core/diagnostics.hpp"

namespace kiln {
namespace {

[[noreturn]] void refuse(std::string_view where, std::string_view problem) {
  throw Error{ErrorCode::invalid_signature,
              fmt::format("{}{}{}", where, where.empty() ? "" : ": ", problem)};
}

std::string known_values(const KeySpec& key) {
  switch (key.kind) {
    case KeySpec::Kind::integer:
      return key.maximum == std::numeric_limits<std::int64_t>::max()
                 ? fmt::format("an integer of at least {}", key.minimum)
                 : fmt::format("an integer from {} to {}", key.minimum, key.maximum);
    case KeySpec::Kind::choice:
      return fmt::format("one of {}", listed(key.choices));
    case KeySpec::Kind::flag:
      return "0 or 1";
  }
  return "unknown";
}

[[noreturn]] void refuse_value(const KeySpec& key,
                               std::string_view value,
                               std::string_view where,
                               std::string_view problem) {
  const std::string hint =
      key.kind == KeySpec::Kind::choice ? did_you_mean(value, key.choices) : std::string();
  refuse(where,
         fmt::format("{}={} {}{}; {} is {}",
                     key.name,
                     quote(value),
                     problem,
                     hint,
                     key.name,
                     known_values(key)));
}

std::string canonical_integer(const KeySpec& key, std::string_view value, std::string_view where) {
  std::string_view digits = value;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, number);
  const bool two_signs = value.starts_with('+') && digits.starts_with('-');
  if (stop != end || failure == std::errc::invalid_argument || two_signs) {
    refuse_value(key, value, where, "is not an integer in decimal digits");
  }
  if (failure == std::errc::result_out_of_range) {
    refuse_value(key, value, where, "does not fit 64 bits");
  }
  if (number < key.minimum || number > key.maximum) {
    refuse_value(key, value, where, "is out of range");
  }
  return std::to_string(number);
}

std::string canonical_flag(const KeySpec& key, std::string_view value, std::string_view where) {
  for (const std::string_view off : {"0", "false", "off", "no"}) {
    if (value == off) return "0";
  }
  for (const std::string_view on : {"1", "true", "on", "yes"}) {
    if (value == on) return "1";
  }
  refuse_value(key, value, where, "is not a flag");
}

std::string canonical_value(const KeySpec& key, std::string_view value, std::string_view where) {
  switch (key.kind) {
    case KeySpec::Kind::integer:
      return canonical_integer(key, value, where);
    case KeySpec::Kind::flag:
      return canonical_flag(key, value, where);
    case KeySpec::Kind::choice:
      break;
  }
  if (std::ranges::find(key.choices, value) == key.choices.end()) {
    refuse_value(key, value, where, "is not known");
  }
  return std::string(value);
}

std::vector<std::string_view> key_names(const OpSpec& op) {
  std::vector<std::string_view> names;
  for (const KeySpec& key : op.keys) names.push_back(key.name);
  return names;
}

const KeySpec& find_key(const OpSpec& op, const GivenKey& given) {
  const auto found = std::ranges::find(op.keys, given.key, &KeySpec::name);
  if (found != op.keys.end()) return *found;
  const std::vector<std::string_view> names = key_names(op);
  refuse(given.where_key,
         fmt::format("op {} has no key {}{}; its keys are {}",
                     op.name,
                     quote(given.key),
                     did_you_mean(given.key, names),
                     names.empty() ? std::string("none") : listed(names)));
}

std::string given_value(const KeySpec& key, const GivenKey& given) {
  if (given.boolean && key.kind != KeySpec::Kind::flag) {
    refuse_value(key, given.value, given.where_value, "is a boolean");
  }
  if (given.value.empty()) refuse_value(key, given.value, given.where_value, "has no value");
  return canonical_value(key, given.value, given.where_value);
}

void refuse_missing(const OpSpec& op, const KeySpec& key) {
  refuse("",
         fmt::format("op {} needs key {}: {}, such as \"{}:{}=...\"",
                     op.name,
                     quote(key.name),
                     known_values(key),
                     op.name,
                     key.name));
}

}  // namespace

const OpSpec& find_op(std::string_view name,
                      std::string_view where,
                      std::span<const OpSpec* const> ops) {
  std::vector<std::string_view> names;
  for (const OpSpec* op : ops) {
    if (op->name == name) return *op;
    names.push_back(op->name);
  }
  throw Error{ErrorCode::unknown_op,
              fmt::format("{}{}unknown op {}{}; known: {}",
                          where,
                          where.empty() ? "" : ": ",
                          quote(name),
                          did_you_mean(name, names),
                          names.empty() ? std::string("none") : listed(names))};
}

Signature canonicalise(const OpSpec& op, std::span<const GivenKey> given) {
  Signature signature{std::string(op.name), {}};
  for (const KeySpec& key : op.keys) signature.keys.emplace_back(key.name, std::string());
  std::ranges::sort(signature.keys);
  const auto slot = [&](std::string_view name) -> std::string& {
    return std::ranges::find(signature.keys, name, [](const auto& pair) { return pair.first; })
        ->second;
  };

  for (const GivenKey& item : given) {
    const KeySpec& key = find_key(op, item);
    std::string& value = slot(key.name);
    if (!value.empty()) {
      refuse(item.where_key, fmt::format("key {} is given twice; give it once", quote(key.name)));
    }
    value = given_value(key, item);
  }
  for (const KeySpec& key : op.keys) {
    std::string& value = slot(key.name);
    if (!value.empty()) continue;
    if (key.required) refuse_missing(op, key);
    if (!key.default_value.empty()) value = canonical_value(key, key.default_value, "default");
  }
  if (op.complete != nullptr) op.complete(signature);
  for (const KeySpec& key : op.keys) {
    std::string& value = slot(key.name);
    if (value.empty()) refuse_missing(op, key);
    value = canonical_value(key, value, "default");
  }
  return signature;
}

}  // namespace kiln
