// The scanner behind closures: comments, literals and directives, down to the includes.
// SPDX-License-Identifier: Apache-2.0
#include "src/core/include_scanner.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "src/core/diagnostics.hpp"
#include "src/core/source_cursor.hpp"

namespace kiln {
namespace {

using namespace std::string_view_literals;

// They read the clock, or ask for files that are outside the closure.
constexpr std::array kRefusedNames = {"__DATE__"sv,
                                      "__TIME__"sv,
                                      "__TIMESTAMP__"sv,
                                      "__has_include"sv,
                                      "__has_include_next"sv,
                                      "__has_embed"sv};
constexpr std::array kDirectives = {"define"sv,
                                    "undef"sv,
                                    "if"sv,
                                    "ifdef"sv,
                                    "ifndef"sv,
                                    "elif"sv,
                                    "elifdef"sv,
                                    "elifndef"sv,
                                    "else"sv,
                                    "endif"sv,
                                    "line"sv,
                                    "error"sv,
                                    "warning"sv,
                                    "pragma"sv};
constexpr std::array kRawPrefixes = {"R"sv, "LR"sv, "uR"sv, "UR"sv, "u8R"sv};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name(char c) { return is_name_start(c) || is_digit(c); }

class Scanner : private SourceCursor {
 public:
  using SourceCursor::SourceCursor;

  std::vector<Include> scan() {
    refuse_doubtful_bytes();
    bool line_start = true;  // a comment that spans lines is one blank: it does not start a line
    while (!done()) {
      if (peek() == '\n') {
        advance();
        line_start = true;
      } else if (skip_blank() || skip_comment()) {
        continue;
      } else if (line_start && take_hash()) {
        directive();
        line_start = false;
      } else {
        token();
        line_start = false;
      }
    }
    return std::move(includes_);
  }

 private:
  // ---- blanks and comments ----
  bool skip_blank() {
    if (!is_blank(peek()) && peek() != '\r') return false;
    advance();
    return true;
  }
  bool skip_comment() {
    if (done() || peek() != '/') return false;
    const char next = peek_next();
    if (next == '/') {
      while (!done() && peek() != '\n') advance();
      return true;
    }
    if (next != '*') return false;
    const std::size_t begin = offset();
    advance();
    advance();
    while (!done()) {
      const bool closed = peek() == '*' && peek_next() == '/';
      advance();
      if (!closed) continue;
      advance();
      return true;
    }
    refuse_at(begin, "a comment that is not closed");
  }
  void skip_blanks_and_comments() {
    while (!done() && (skip_blank() || skip_comment())) {
    }
  }

  // ---- tokens ----
  // '#' or its other spelling, '%:'.
  bool take_hash() {
    if (done()) return false;
    if (peek() == '%' && peek_next() == ':') {
      advance();
    } else if (peek() != '#') {
      return false;
    }
    advance();
    return true;
  }

  std::string name() {
    std::string spelling;
    for (; !done() && is_name(peek()); advance()) spelling += peek();
    return spelling;
  }

  void token() {
    if (take_hash()) {
      if (take_hash()) refuse("token pasting, which can build a name that is refused");
    } else if (is_name_start(peek())) {
      identifier();
    } else if (is_digit(peek()) || (peek() == '.' && is_digit(peek_next()))) {
      number();
    } else if (peek() == '"' || peek() == '\'') {
      literal();
    } else {
      advance();
    }
  }

  void identifier() {
    const std::size_t begin = offset();
    const std::string spelling = name();
    if (std::ranges::find(kRefusedNames, spelling) != kRefusedNames.end()) {
      refuse_at(begin,
                fmt::format("{} would make the compiled kernel depend on more than its source",
                            spelling));
    }
    const bool raw = std::ranges::find(kRawPrefixes, spelling) != kRawPrefixes.end();
    if (raw && !done() && peek() == '"') raw_literal();
  }

  // A number may hold ' between digits (1'000), which is no character literal.
  void number() {
    while (!done()) {
      const char c = peek();
      const bool separator = c == '\'' && is_name(peek_next());
      if (!is_name(c) && c != '.' && !separator) return;
      advance();
    }
  }

  void literal() {
    const std::size_t begin = offset();
    const char quote_mark = peek();
    advance();
    while (!done() && peek() != '\n') {
      const char c = peek();
      advance();
      if (c == quote_mark) return;
      if (c == '\\' && !done()) advance();
    }
    refuse_at(begin, fmt::format("a {} that is not closed on its line", quote_mark));
  }

  // Inside a raw string nothing is special, line continuations included.
  void raw_literal() {
    const std::size_t begin = offset();
    const std::string_view rest = text().substr(begin + 1);
    // The first character that no delimiter may hold has to be the parenthesis that ends it.
    const std::size_t length = std::min(rest.find_first_of("() \\\t\v\f\r\n\""), rest.size());
    if (length > 16 || !rest.substr(length).starts_with('(')) {
      refuse("a raw string without \"delimiter(\"");
    }
    const std::string close = fmt::format("){}\"", rest.substr(0, length));
    const std::size_t end = rest.find(close, length);
    if (end == std::string_view::npos) refuse("a raw string that is not closed");
    move_to(begin + 1 + end + close.size());
  }

  // ---- directives ----
  // The rest of a directive other than #include is ordinary tokens.
  void directive() {
    skip_blanks_and_comments();
    if (done() || peek() == '\n') return;
    const std::size_t begin = offset();
    const std::string spelling = name();
    if (spelling == "include") return include();
    if (std::ranges::find(kDirectives, spelling) != kDirectives.end()) return;
    refuse_at(begin,
              fmt::format("{} is not a directive device code may use", quote("#" + spelling)));
  }

  void include() {
    skip_blanks_and_comments();
    const std::size_t begin = offset();
    const char open = peek();
    if (open != '"' && open != '<') {
      refuse("an include whose name is computed; name the file itself");
    }
    const char close = open == '<' ? '>' : '"';
    advance();
    Include found;
    found.line = line_of(begin);
    for (; !done() && peek() != close; advance()) {
      if (peek() == '\n') refuse_at(begin, "an include whose name is not closed");
      found.name += peek();
    }
    if (done()) refuse_at(begin, "an include whose name is not closed");
    advance();
    skip_blanks_and_comments();
    if (!done() && peek() != '\n') refuse("something follows the name of an include");
    includes_.push_back(std::move(found));
  }

  std::vector<Include> includes_;
};

}  // namespace

std::vector<Include> scan_includes(std::string_view file, std::string_view text) {
  return Scanner(file, text).scan();
}

}  // namespace kiln
