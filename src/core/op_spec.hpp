// The keys an op's signature takes: names, types, ranges, defaults. Data from which parsing, help
// and errors come.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/signature.hpp>

namespace kiln {

struct KeySpec {
  enum class Kind { integer, choice, flag };
  std::string_view name;
  Kind kind = Kind::integer;
  std::int64_t minimum = 1;  // integer
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  std::span<const std::string_view> choices{};  // choice
  std::string_view default_value{};             // empty: required unless OpSpec::complete fills it
  bool required = false;
  std::string_view doc{};
};

struct OpSpec {
  std::string_view name;
  std::span<const KeySpec> keys;  // sorted by name
  std::string_view summary{};
  // Fills defaults that depend on other keys and refuses contradictions (Error{invalid_signature}).
  // Called with keys sorted, given ones validated; keys with neither value nor plain default are
  // present and empty. May be null.
  void (*complete)(Signature&) = nullptr;
};

// Every op, from the generated list of families. Specs are never moved or removed.
[[nodiscard]] std::vector<const OpSpec*> op_specs();
// Of a constant list.
[[nodiscard]] inline std::vector<const OpSpec*> pointers_to(std::span<const OpSpec> ops) {
  std::vector<const OpSpec*> out;
  for (const OpSpec& op : ops) out.push_back(&op);
  return out;
}

// The op of a name, which stands at that place of a text. Throws Error{unknown_op}.
using KnownOp = std::function<const OpSpec&(std::string_view name, std::string_view where)>;

// Parses and canonicalises: what Signature::parse does with every op.
[[nodiscard]] Signature parse_signature(std::string_view text, const KnownOp& known_op);
[[nodiscard]] Signature parse_signature_json(std::string_view json, const KnownOp& known_op);
// The same against the given ops.
[[nodiscard]] Signature parse_signature(std::string_view text, std::span<const OpSpec* const> ops);
[[nodiscard]] Signature parse_signature_json(std::string_view json,
                                             std::span<const OpSpec* const> ops);

}  // namespace kiln
