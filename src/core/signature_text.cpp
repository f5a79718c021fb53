// Reading "op:key=value,key=value".
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>

#include <vector>

#include <fmt/format.h>

#include "src/core/canonical.hpp"
#include "src/core/diagnostics.hpp"

namespace kiln {
namespace {

// Far above what any op needs; keeps errors about pasted files short.
constexpr std::size_t kLongestSignature = 4096;

// A piece of the text that remembers where it began, for columns in errors (bytes, from 1).
struct Piece {
  std::string_view text;
  std::size_t offset = 0;

  [[nodiscard]] std::string where() const { return fmt::format("column {}", offset + 1); }

  [[nodiscard]] Piece part(std::size_t begin, std::size_t end) const {
    return Piece{text.substr(begin, end - begin), offset + begin}.trimmed();
  }

  [[nodiscard]] Piece trimmed() const {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {text.substr(text.size()), offset + text.size()};
    const std::size_t last = text.find_last_not_of(kBlanks);
    return {text.substr(first, last - first + 1), offset + first};
  }
};

[[noreturn]] void refuse(const Piece& piece, std::string_view problem) {
  throw Error{ErrorCode::invalid_signature,
              fmt::format("{}: {}; a signature is op:key=value,key=value", piece.where(), problem)};
}

GivenKey read_key(const Piece& entry) {
  if (entry.text.empty()) refuse(entry, "nothing stands where a key=value should");
  const std::size_t equals = entry.text.find('=');
  if (equals == std::string_view::npos) {
    refuse(entry, fmt::format("{} has no '='", quote(entry.text)));
  }
  const Piece key = entry.part(0, equals);
  const Piece value = entry.part(equals + 1, entry.text.size());
  if (key.text.empty()) refuse(entry, fmt::format("{} has no key", quote(entry.text)));
  GivenKey given;
  given.key = key.text;
  given.value = value.text;
  given.where_key = key.where();
  given.where_value = value.where();
  return given;
}

}  // namespace

Signature parse_signature(std::string_view text, const KnownOp& known_op) {
  const Piece whole{text, 0};
  if (text.size() > kLongestSignature) {
    refuse(whole, fmt::format("{} bytes are too long for a signature", text.size()));
  }
  const std::size_t colon = std::min(text.find(':'), text.size());
  const Piece name = whole.part(0, colon);
  if (name.text.empty()) refuse(whole, "there is no op");
  const OpSpec& op = known_op(name.text, name.where());

  std::vector<GivenKey> given;
  const Piece rest = whole.part(std::min(colon + 1, text.size()), text.size());
  if (!rest.text.empty()) {
    for (std::size_t begin = 0; begin <= rest.text.size();) {
      const std::size_t end = std::min(rest.text.find(',', begin), rest.text.size());
      given.push_back(read_key(rest.part(begin, end)));
      begin = end + 1;
    }
  }
  return canonicalise(op, given);
}

Signature parse_signature(std::string_view text, std::span<const OpSpec* const> ops) {
  return parse_signature(text, [&](std::string_view name, std::string_view where) -> const OpSpec& {
    return find_op(name, where, ops);
  });
}

}  // namespace kiln
