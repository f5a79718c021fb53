// The text form, the typed reads and the hash of a canonical signature.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>
#include <kiln/signature.hpp>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "src/core/diagnostics.hpp"

namespace kiln {
namespace {

// FNV-1a: a hit in memory hashes one signature and must not allocate.
void mix(std::uint64_t& hash, std::string_view text) noexcept {
  constexpr std::uint64_t kPrime = 0x100000001b3ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  }
  hash = (hash ^ 0xffU) * kPrime;  // a byte that no UTF-8 text holds ends each part
}

}  // namespace

std::string Signature::text() const {
  std::string out = op;
  char separator = ':';
  for (const auto& [key, value_text] : keys) {
    out += separator;
    out += key;
    out += '=';
    out += value_text;
    separator = ',';
  }
  return out;
}

std::string_view Signature::value(std::string_view key) const {
  const auto found = std::ranges::find(keys, key, [](const auto& pair) { return pair.first; });
  if (found == keys.end()) {
    throw Error{ErrorCode::internal, fmt::format("op {} has no key {}", quote(op), quote(key))};
  }
  return found->second;
}

std::int64_t Signature::integer(std::string_view key) const {
  const std::string_view digits = value(key);
  std::int64_t number = 0;
  const auto [stop, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc() || stop != digits.data() + digits.size()) {
    throw Error{ErrorCode::internal,
                fmt::format("key {} of op {} is {}, which is not an integer",
                            quote(key),
                            quote(op),
                            quote(digits))};
  }
  return number;
}

bool Signature::flag(std::string_view key) const {
  const std::string_view digit = value(key);
  if (digit != "0" && digit != "1") {
    throw Error{
        ErrorCode::internal,
        fmt::format(
            "key {} of op {} is {}, which is not a flag", quote(key), quote(op), quote(digit))};
  }
  return digit == "1";
}

std::size_t SignatureHash::operator()(const Signature& signature) const noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  mix(hash, signature.op);
  for (const auto& [key, value] : signature.keys) {
    mix(hash, key);
    mix(hash, value);
  }
  return static_cast<std::size_t>(hash);
}

}  // namespace kiln
