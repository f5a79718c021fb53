// A place in a source text that never stands on a line continuation, and errors that name it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace kiln {

class SourceCursor {
 public:
  // `file` is for errors. Both texts must outlive the cursor.
  SourceCursor(std::string_view file, std::string_view text);

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  // A newline at the end.
  [[nodiscard]] char peek() const { return done() ? '\n' : text_[at_]; }
  [[nodiscard]] char peek_next() const;
  void advance() {
    if (at_ < text_.size()) ++at_;
    // Few bytes begin a continuation, and every byte comes by here.
    if (at_ < text_.size() && text_[at_] == '\\') skip_continuations();
  }

  // Moves past the characters that `is` accepts, as far as no continuation interrupts them, and
  // returns those. It must not accept a backslash.
  template <class Is>
  std::string_view take_run(Is is) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is(text_[at_])) ++at_;
    const std::string_view run = text_.substr(begin, at_ - begin);
    if (at_ < text_.size() && text_[at_] == '\\') skip_continuations();
    return run;
  }

  // Offsets are into the whole text, continuations included: raw strings keep them.
  [[nodiscard]] std::size_t offset() const { return at_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  void move_to(std::size_t offset);
  [[nodiscard]] std::size_t line_of(std::size_t offset) const;

  // Throw Error{invalid_source} with "file:line: ".
  [[noreturn]] void refuse(std::string_view problem) const { refuse_at(at_, problem); }
  [[noreturn]] void refuse_at(std::size_t offset, std::string_view problem) const;
  // Bytes that compilers disagree on: zero bytes, lone carriage returns, trigraphs, a backslash
  // with blanks after it at the end of a line. None is needed in device code.
  void refuse_doubtful_bytes() const;

 private:
  void skip_continuations();

  std::string_view file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace kiln
