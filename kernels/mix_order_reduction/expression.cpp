// A recursive-descent parser of statements.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/core/diagnostics.hpp"

namespace kiln::mix_order_reduction {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

class Parser {
 public:
  Parser(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  Statement statement() {
    if (text_.size() > kMaxStatementBytes) {
      fail(kMaxStatementBytes + 1,
           fmt::format("a statement has at most {} bytes; break it up", kMaxStatementBytes));
    }
    Statement out;
    skip_blanks();
    if (!is_letter(peek())) expected("a name");
    out.name = name();
    if (!take("=")) expected(fmt::format("\"=\" after {}", quote(out.name)));
    out.value = comparison(0);
    skip_blanks();
    if (at_ < text_.size()) expected("an operator or the end");
    return out;
  }

 private:
  [[noreturn]] void fail(std::size_t column, std::string_view problem) const {
    refuse(where_, column, problem);
  }
  [[noreturn]] void expected(std::string_view what) {
    skip_blanks();
    const std::string found = at_ < text_.size() ? quote(text_.substr(at_, 1)) : "the end";
    fail(at_ + 1, fmt::format("expected {}, found {}", what, found));
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    while (is_blank(peek())) ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    // "=" is not the start of "==".
    if (token == "=" && text_.substr(at_, 2) == "==") return false;
    at_ += token.size();
    return true;
  }
  std::string name() {
    const std::size_t start = at_;
    while (is_name(peek())) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  // The first of the tokens that comes next, and its column.
  template <std::size_t Count>
  bool one_of(const std::array<std::string_view, Count>& tokens,
              std::string_view& token,
              std::size_t& column) {
    skip_blanks();
    column = at_ + 1;
    return std::any_of(tokens.begin(), tokens.end(), [&](std::string_view one) {
      token = one;
      return take(one);
    });
  }

  Expression comparison(int depth) {
    // Longer tokens first.
    constexpr std::array<std::string_view, 6> kTokens{"<=", ">=", "==", "!=", "<", ">"};
    Expression left = sum(depth);
    std::string_view token;
    std::size_t column = 0;
    if (one_of(kTokens, token, column)) left = binary(token, column, std::move(left), sum(depth));
    return left;
  }

  Expression sum(int depth) {
    constexpr std::array<std::string_view, 2> kTokens{"+", "-"};
    return level(kTokens, [&](int links) { return product(depth + links); });
  }

  Expression product(int depth) {
    constexpr std::array<std::string_view, 2> kTokens{"*", "/"};
    return level(kTokens, [&](int links) { return factor(depth + links); });
  }

  // A chain of operators of one level leans to the left, so each link is one deeper.
  template <std::size_t Count, class Next>
  Expression level(const std::array<std::string_view, Count>& tokens, Next next) {
    int links = 0;
    Expression left = next(links);
    std::string_view token;
    std::size_t column = 0;
    while (one_of(tokens, token, column)) {
      ++links;
      left = binary(token, column, std::move(left), next(links));
    }
    return left;
  }

  static Expression binary(std::string_view token,
                           std::size_t column,
                           Expression left,
                           Expression right) {
    Expression out{.kind = Expression::Kind::binary,
                   .number = 0,
                   .text = std::string(token),
                   .operands = {},
                   .column = column};
    out.operands.push_back(std::move(left));
    out.operands.push_back(std::move(right));
    return out;
  }

  Expression factor(int depth) {
    skip_blanks();
    if (depth >= kMaxDepth) {
      fail(at_ + 1, fmt::format("nested more than {} deep; name a part of it", kMaxDepth));
    }
    Expression out;
    out.column = at_ + 1;
    if (take("-")) {
      out.kind = Expression::Kind::negate;
      out.operands.push_back(factor(depth + 1));
    } else if (take("(")) {
      out = comparison(depth + 1);
      if (!take(")")) expected("an operator or \")\"");
    } else if (is_digit(peek()) || peek() == '.') {
      out.number = number();
    } else if (is_letter(peek())) {
      out.kind = Expression::Kind::name;
      out.text = name();
      if (take("(")) {
        out.kind = Expression::Kind::call;
        do out.operands.push_back(comparison(depth + 1));
        while (take(","));
        if (!take(")")) expected("\",\" or \")\"");
      }
    } else {
      expected("a number, a name or \"(\"");
    }
    return out;
  }

  // Constants are fp32 on the device: rounded here, once, to nearest even.
  double number() {
    const char* first = text_.data() + at_;
    double value = 0;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    const bool ends = end == text_.data() + text_.size() || !(is_name(*end) || *end == '.');
    if (error == std::errc::invalid_argument || !ends)
      fail(at_ + 1, "a number is digits, with a fraction and an exponent or without");
    if (error != std::errc{} || value > static_cast<double>(std::numeric_limits<float>::max()))
      fail(at_ + 1, "the number is out of fp32's range");
    const auto rounded = static_cast<double>(static_cast<float>(value));
    if (value != 0 && rounded == 0) fail(at_ + 1, "the number is zero in fp32");
    at_ += static_cast<std::size_t>(end - first);
    return rounded;
  }

  std::string_view text_;
  std::string_view where_;
  std::size_t at_ = 0;
};

}  // namespace

Statement parse_statement(std::string_view text, std::string_view where) {
  return Parser(text, where).statement();
}

std::string to_string(const Expression& e) {
  switch (e.kind) {
    case Expression::Kind::number:
      return fmt::format("{}", e.number);
    case Expression::Kind::name:
      return e.text;
    case Expression::Kind::negate:
      // A factor, like its operand: parentheses would count as depth that the text read had not.
      return "-" + to_string(e.operands[0]);
    case Expression::Kind::binary:
      return fmt::format("({} {} {})", to_string(e.operands[0]), e.text, to_string(e.operands[1]));
    case Expression::Kind::call: {
      std::string out = e.text + "(";
      for (std::size_t i = 0; i < e.operands.size(); ++i)
        out += (i == 0 ? "" : ", ") + to_string(e.operands[i]);
      return out + ")";
    }
  }
  return {};
}

std::string to_string(const Statement& statement) {
  return fmt::format("{} = {}", statement.name, to_string(statement.value));
}

void refuse(std::string_view where, std::size_t column, std::string_view problem) {
  throw Error(ErrorCode::invalid_source, fmt::format("{}, column {}: {}", where, column, problem));
}

}  // namespace kiln::mix_order_reduction
