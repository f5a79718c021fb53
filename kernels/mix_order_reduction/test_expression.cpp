// Statements: trees, precedence, and errors that point at the column.
// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/expression.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
namespace mix = kiln::mix_order_reduction;

std::string tree(std::string_view text) { return mix::to_string(mix::parse_statement(text, "f")); }

std::string error_of(std::string_view text) {
  try {
    static_cast<void>(mix::parse_statement(text, "f"));
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::invalid_source);
    return error.detail;
  }
  return "no error";
}

TEST_CASE("operators bind by level and group from the left") {
  CHECK(tree("y = a + b * c") == "y = (a + (b * c))");
  CHECK(tree("y = a - b - c") == "y = ((a - b) - c)");
  CHECK(tree("y = a / b * c") == "y = ((a / b) * c)");
  CHECK(tree("y = -a * b") == "y = (-a * b)");
  CHECK(tree("y = -(a * b)") == "y = -(a * b)");
  CHECK(tree("y = --a") == "y = --a");
  CHECK(tree("y = a * (b + c)") == "y = (a * (b + c))");
  CHECK(tree("y = a + b <= c * d") == "y = ((a + b) <= (c * d))");
  CHECK(tree("y=fma(-x,m,g)") == "y = fma(-x, m, g)");
  CHECK(tree("\ty\t= f ( a , b ) ") == "y = f(a, b)");
  CHECK(tree("y = a == b") == "y = (a == b)");
}

TEST_CASE("constants are rounded to fp32 where they are read") {
  CHECK(mix::parse_statement("y = 0.1", "f").value.number == static_cast<double>(0.1f));
  CHECK(tree("y = 2 + .5 + 1e3 + 1.5E-2") == tree("y = 2.0 + 0.5 + 1000 + 0.015"));
  CHECK(mix::parse_statement("y = 16777217", "f").value.number == 16777216.0);
}

TEST_CASE("a tree knows the column of each of its parts") {
  const mix::Statement s = mix::parse_statement("y = aa * (b - cc)", "f");
  CHECK(s.value.column == 8);
  CHECK(s.value.operands[0].column == 5);
  CHECK(s.value.operands[1].column == 13);
  CHECK(s.value.operands[1].operands[1].column == 15);
}

TEST_CASE("a wrong statement is refused at its column") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "f, column 1: expected a name, found the end"},
      {"3 = x", "f, column 1: expected a name, found \"3\""},
      {"y x", "f, column 3: expected \"=\" after \"y\", found \"x\""},
      {"y == x", "f, column 3: expected \"=\" after \"y\", found \"=\""},
      {"y =", "f, column 4: expected a number, a name or \"(\", found the end"},
      {"y = a +", "f, column 8: expected a number, a name or \"(\", found the end"},
      {"y = a b", "f, column 7: expected an operator or the end, found \"b\""},
      {"y = (a", "f, column 7: expected an operator or \")\", found the end"},
      {"y = f(a", "f, column 8: expected \",\" or \")\", found the end"},
      {"y = f()", "f, column 7: expected a number, a name or \"(\", found \")\""},
      {"y = a < b < c", "f, column 11: expected an operator or the end, found \"<\""},
      {"y = a ^ b", "f, column 7: expected an operator or the end, found \"^\""},
      {"y = \x01", "f, column 5: expected a number, a name or \"(\", found \"\\x01\""},
      {"y = +a", "f, column 5: expected a number, a name or \"(\", found \"+\""},
      {"y = 1.2.3", "f, column 5: a number is digits, with a fraction and an exponent or without"},
      {"y = 1x", "f, column 5: a number is digits, with a fraction and an exponent or without"},
      {"y = .", "f, column 5: a number is digits, with a fraction and an exponent or without"},
      {"y = 1e39", "f, column 5: the number is out of fp32's range"},
      {"y = 1e999", "f, column 5: the number is out of fp32's range"},
      {"y = 1e-60", "f, column 5: the number is zero in fp32"},
  };
  for (const auto& [text, wanted] : cases) {
    INFO(text);
    CHECK(error_of(text) == wanted);
  }
}

TEST_CASE("the text of a statement is a statement, however deep it may nest") {
  std::mt19937 random(17);
  int accepted = 0;
  for (int i = 0; i < 2'000; ++i) {
    const auto most = static_cast<unsigned>(mix::kMaxDepth + 2);
    std::string open, close;
    for (auto depth = random() % most; depth > 0; --depth) {
      switch (random() % 4) {
        case 0:
          open += "(";
          close.insert(0, ")");
          break;
        case 1:
          open += "abs(";
          close.insert(0, ")");
          break;
        case 2:
          open += "a * ";
          break;
        default:
          open += "-";
      }
    }
    const std::string text = "y = " + open + "a" + close;
    if (error_of(text) != "no error") continue;
    ++accepted;
    CAPTURE(text);
    REQUIRE(tree(tree(text)) == tree(text));
  }
  CHECK(accepted > 500);
}

TEST_CASE("neither length nor depth is without end") {
  CHECK(error_of("y = " + std::string(mix::kMaxStatementBytes, 'a')).find("at most") !=
        std::string::npos);
  const auto nested = [](int depth) {
    const auto count = static_cast<std::size_t>(depth);
    return "y = " + std::string(count, '(') + "a" + std::string(count, ')');
  };
  CHECK(tree(nested(mix::kMaxDepth - 1)) == "y = a");
  CHECK(error_of(nested(mix::kMaxDepth)).find("nested more than") != std::string::npos);
  CHECK(error_of("y = " + std::string(100, '-') + "a").find("nested more") != std::string::npos);
  std::string chain = "y = a";
  for (int i = 0; i < 100; ++i) chain += "+a";
  CHECK(error_of(chain).find("nested more") != std::string::npos);
}

}  // namespace
