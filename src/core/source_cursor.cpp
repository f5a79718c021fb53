// Line continuations, line numbers, and the bytes no source may hold.
// SPDX-License-Identifier: Apache-2.0
#include "src/core/source_cursor.hpp"

#include <kiln/error.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace kiln {

SourceCursor::SourceCursor(std::string_view file, std::string_view text)
    : file_(file), text_(text) {
  skip_continuations();
}

char SourceCursor::peek_next() const {
  SourceCursor ahead = *this;
  ahead.advance();
  return ahead.peek();
}

void SourceCursor::move_to(std::size_t offset) {
  at_ = std::min(offset, text_.size());
  skip_continuations();
}

void SourceCursor::skip_continuations() {
  while (true) {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("\\\n")) {
      at_ += 2;
    } else if (rest.starts_with("\\\r\n")) {
      at_ += 3;
    } else {
      return;
    }
  }
}

std::size_t SourceCursor::line_of(std::size_t offset) const {
  return static_cast<std::size_t>(std::ranges::count(text_.substr(0, offset), '\n')) + 1;
}

void SourceCursor::refuse_at(std::size_t offset, std::string_view problem) const {
  throw Error{ErrorCode::invalid_source, fmt::format("{}:{}: {}", file_, line_of(offset), problem)};
}

void SourceCursor::refuse_doubtful_bytes() const {
  // One fast search a kind: these bytes are rare, and every source comes by here.
  const auto at_each = [this](char kind, auto&& check) {
    for (auto i = text_.find(kind); i != std::string_view::npos; i = text_.find(kind, i + 1))
      check(i, text_.substr(i));
  };
  at_each('\0', [&](std::size_t i, std::string_view) { refuse_at(i, "a zero byte"); });
  at_each('\r', [&](std::size_t i, std::string_view rest) {
    if (!rest.starts_with("\r\n")) refuse_at(i, "a lone carriage return");
  });
  at_each('?', [&](std::size_t i, std::string_view rest) {
    if (rest.starts_with("?\?/")) refuse_at(i, "a trigraph");
  });
  at_each('\\', [&](std::size_t i, std::string_view rest) {
    const std::size_t end = std::min(rest.find_first_not_of(" \t\v\f", 1), rest.size());
    const bool line_ends = end < rest.size() && (rest[end] == '\n' || rest[end] == '\r');
    if (end > 1 && line_ends) refuse_at(i, "blanks between a backslash and the end of its line");
  });
}

}  // namespace kiln
