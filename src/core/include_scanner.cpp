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

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool starts_name(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
}

// Tables: nearly every byte of every source is asked about.
template <class Is>
constexpr std::array<bool, 256> table_of(Is is) {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < table.size(); ++c) table[c] = is(static_cast<unsigned char>(c));
  return table;
}
constexpr auto kNameBytes =
    table_of([](unsigned char c) { return starts_name(c) || (c >= '0' && c <= '9'); });
// Blanks and operators: inside a line they begin nothing that matters.
constexpr auto kPlainBytes = table_of(
    [](char c) { return " \t\v\f()[]{}<>;,:=+-*&|^!~?@`"sv.find(c) != std::string_view::npos; });
// What a line holds when anything in it may matter: the beginnings of directives, literals,
// comments and continuations, and a piece of every refused name. Few lines have one, and pieces
// that begin with a rare letter are found fast.
constexpr std::array kMarks = {
    "#"sv, "%:"sv, "\""sv, "'"sv, "/"sv, "\\"sv, "DATE__"sv, "TIME"sv, "has_"sv};
static_assert(std::ranges::all_of(kRefusedNames, [](std::string_view name) {
  return std::ranges::any_of(
      kMarks, [&](std::string_view mark) { return name.find(mark) != std::string_view::npos; });
}));
bool is_name(char c) { return kNameBytes[static_cast<unsigned char>(c)]; }
bool is_plain(char c) { return kPlainBytes[static_cast<unsigned char>(c)]; }
bool is_name_start(char c) { return is_name(c) && !is_digit(c); }

class Scanner : private SourceCursor {
 public:
  using SourceCursor::SourceCursor;

  std::vector<Include> scan() {
    refuse_doubtful_bytes();
    bool line_start = true;  // a comment that spans lines is one blank: it does not start a line
    skip_plain_lines();
    while (!done()) {
      if (peek() == '\n') {
        advance();
        skip_plain_lines();
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
  // From the start of a line to that of the next one with a mark: the lines between hold names,
  // numbers and operators, which all end with their line.
  void skip_plain_lines() {
    std::size_t nearest = text().size();
    for (std::size_t i = 0; i < kMarks.size(); ++i) {
      if (marked_[i] < offset() || !searched_) marked_[i] = text().find(kMarks[i], offset());
      nearest = std::min(nearest, marked_[i]);
    }
    searched_ = true;
    const std::size_t newline = text().substr(0, nearest).rfind('\n');
    if (newline != std::string_view::npos && newline >= offset()) move_to(newline + 1);
  }

  // ---- blanks and comments ----
  bool skip_blank() { return !take_run(is_blank).empty(); }
  bool skip_comment() {
    if (done() || peek() != '/') return false;
    const char next = peek_next();
    if (next == '/') {
      while (!done() && peek() != '\n') {
        (void)take_run([](char c) { return c != '\n' && c != '\\'; });
        if (peek() == '\\') advance();
      }
      return true;
    }
    if (next != '*') return false;
    const std::size_t begin = offset();
    advance();
    advance();
    while (!done()) {
      (void)take_run([](char c) { return c != '*' && c != '\\'; });
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

  // The view lives until the next call: a name that a continuation splits is put together.
  std::string_view name() {
    const std::string_view run = take_run(is_name);
    if (done() || !is_name(peek())) return run;
    spelling_ = run;
    while (!done() && is_name(peek())) spelling_ += take_run(is_name);
    return spelling_;
  }

  void token() {
    const char first = peek();
    if (is_name_start(first)) {
      identifier();
    } else if (is_digit(first) || (first == '.' && is_digit(peek_next()))) {
      number();
    } else if (first == '"' || first == '\'') {
      literal();
    } else if (take_hash()) {
      if (take_hash()) refuse("token pasting, which can build a name that is refused");
    } else {
      advance();
      (void)take_run(is_plain);
    }
  }

  void identifier() {
    const std::size_t begin = offset();
    const std::string_view spelling = name();
    if (spelling.starts_with("__") &&
        std::ranges::find(kRefusedNames, spelling) != kRefusedNames.end()) {
      refuse_at(begin,
                fmt::format("{} would make the compiled kernel depend on more than its source",
                            spelling));
    }
    if (done() || peek() != '"') return;
    if (std::ranges::find(kRawPrefixes, spelling) != kRawPrefixes.end()) raw_literal();
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
    const std::string_view spelling = name();
    if (spelling == "include") return include();
    if (std::ranges::find(kDirectives, spelling) != kDirectives.end()) return;
    refuse_at(begin,
              fmt::format("{} is not a directive device code may use",
                          quote("#" + std::string(spelling))));
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

  std::string spelling_;
  std::vector<Include> includes_;
  std::array<std::size_t, kMarks.size()> marked_{};  // the next of each, from where it was asked
  bool searched_ = false;
};

}  // namespace

std::vector<Include> scan_includes(std::string_view file, std::string_view text) {
  return Scanner(file, text).scan();
}

}  // namespace kiln
