// Fuzzes signatures: a canonical one, or a typed error; text and JSON round-trip.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/signature.hpp>

#include <kiln/error.hpp>

#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

template <class Parse>
void check(std::string_view text, Parse parse) {
  try {
    const Signature read = parse(text);
    expect(Signature::parse(read.text()) == read, "a signature's text is the signature");
    expect(Signature::parse_json(read.json()) == read, "a signature's JSON is the signature");
  } catch (const Error& error) {
    expect(error.code == ErrorCode::invalid_signature || error.code == ErrorCode::unknown_op,
           "a bad signature is an invalid signature or an unknown op");
  }
}

}  // namespace

void signature(std::span<const std::byte> bytes) {
  check(text_of(bytes), [](std::string_view text) { return Signature::parse(text); });
  check(text_of(bytes), [](std::string_view text) { return Signature::parse_json(text); });
}

}  // namespace kiln::fuzz
