// Two ops that signature tests parse against: every kind of key, a derived default, a
// contradiction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>

#include <kiln/error.hpp>

#include "src/core/op_spec.hpp"

namespace kiln::testing {

inline constexpr std::array<std::string_view, 3> kTypes = {"f32", "f16", "bf16"};
inline constexpr std::array<std::string_view, 4> kTypesOrNone = {"f32", "f16", "bf16", "none"};

// w follows x unless it is given; dw without w is a contradiction.
inline void complete_norm(Signature& signature) {
  std::string x;
  for (auto& [key, value] : signature.keys) {
    if (key == "x") x = value;
  }
  for (auto& [key, value] : signature.keys) {
    if (key == "w" && value.empty()) value = x;
    if (key == "w" && value == "none" && signature.value("dw") != "none") {
      throw Error{ErrorCode::invalid_signature, "dw needs w"};
    }
  }
}

inline KeySpec integer_key(std::string_view name, std::int64_t most, std::string_view value = "") {
  KeySpec key;
  key.name = name;
  key.maximum = most;
  key.default_value = value;
  key.required = value.empty();
  return key;
}
inline KeySpec choice_key(std::string_view name,
                          std::span<const std::string_view> choices,
                          std::string_view value) {
  KeySpec key;
  key.name = name;
  key.kind = KeySpec::Kind::choice;
  key.choices = choices;
  key.default_value = value;
  return key;
}
inline KeySpec flag_key(std::string_view name) {
  KeySpec key;
  key.name = name;
  key.kind = KeySpec::Kind::flag;
  key.default_value = "0";
  return key;
}

inline std::span<const OpSpec* const> ops() {
  static const std::array norm_keys = {
      flag_key("accumulate"),
      choice_key("dw", kTypesOrNone, "f32"),
      integer_key("n", 65536),
      choice_key("w", kTypesOrNone, ""),
      choice_key("x", kTypes, "bf16"),
  };
  static const std::array scale_keys = {
      integer_key("rows", std::numeric_limits<std::int64_t>::max(), "1")};
  static const OpSpec norm{"norm_backward", norm_keys, "a norm", complete_norm};
  static const OpSpec scale{"scale", scale_keys, "a scale", nullptr};
  static const std::array<const OpSpec*, 2> all = {&norm, &scale};
  return all;
}

}  // namespace kiln::testing
