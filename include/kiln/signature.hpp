// A request for a kernel, in canonical form: two spellings of one request are one signature.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)  // the names a shared library exports

namespace [[gnu::visibility("default")]] kiln {

// Canonical: keys are sorted, every key of the op is present, values are in canonical spelling.
struct Signature {
  std::string op;
  std::vector<std::pair<std::string, std::string>> keys;

  // Parses "op:key=value,key=value". Blanks around tokens are dropped. Integers are decimal digits
  // with an optional sign, leading zeros dropped; flags are 0, false, off, no, 1, true, on, yes;
  // names are exact. Missing keys take their defaults. Throws Error{invalid_signature} or
  // Error{unknown_op} naming the position, the offending piece, and what is known.
  [[nodiscard]] static Signature parse(std::string_view text);

  // Parses {"op": "...", "key": value, ...}; values are strings, integers or booleans (0 and 1).
  [[nodiscard]] static Signature parse_json(std::string_view json);

  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json() const;

  // The value of a key; throws Error{internal} when the op has no such key.
  [[nodiscard]] std::string_view value(std::string_view key) const;
  [[nodiscard]] std::int64_t integer(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;

  auto operator<=>(const Signature&) const = default;
  bool operator==(const Signature&) const = default;
};

struct SignatureHash {
  [[nodiscard]] std::size_t operator()(const Signature& signature) const noexcept;
};

}  // namespace kiln

#pragma GCC visibility pop
