// From the keys somebody wrote, in text or JSON, to the one canonical signature they mean.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <kiln/signature.hpp>

#include "src/core/op_spec.hpp"

namespace kiln {

// One key as it was given. `where` goes in front of an error: "column 19", or empty when the form
// has no columns.
struct GivenKey {
  std::string key;
  std::string value;
  bool boolean = false;  // a JSON true or false: only flags take it
  std::string where_key;
  std::string where_value;
};

// Throws Error{unknown_op}.
[[nodiscard]] const OpSpec& find_op(std::string_view name,
                                    std::string_view where,
                                    std::span<const OpSpec* const> ops);

// Sorts the keys, fills in defaults and spells every value in its one canonical way:
// - integers: an optional sign and decimal digits, surrounding blanks and leading zeros dropped
// ("+04096" is 4096);
//   no underscores, hexadecimal digits, fractions or exponents;
// - flags: 0, false, off, no are 0; 1, true, on, yes are 1;
// - choices: exactly as listed.
// Throws Error{invalid_signature}.
[[nodiscard]] Signature canonicalise(const OpSpec& op, std::span<const GivenKey> given);

}  // namespace kiln
