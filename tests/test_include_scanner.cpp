// The scanner's way past lines that hold nothing it looks for.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "src/core/include_scanner.hpp"
#include "tests/testing.hpp"

using namespace kiln;

namespace {

// The includes with their lines, or the refusal.
std::string scanned(const std::string& text) {
  try {
    std::string out;
    for (const Include& include : scan_includes("f", text))
      out += include.name + ":" + std::to_string(include.line) + "\n";
    return out;
  } catch (const Error& error) {
    return error.detail;
  }
}

TEST_CASE("lines that are passed over at once are read as those that are looked at") {
  const std::vector<std::string> pieces = {"#include \"a\"",
                                           "#include <b>",
                                           "#define X",
                                           "#pragma once",
                                           "%: include <c>",
                                           "#",
                                           "##",
                                           "%",
                                           "__DATE__",
                                           "__TIME__",
                                           "__has_include",
                                           "__",
                                           "__TIMESTAMP__",
                                           "_DATE__x",
                                           "has_",
                                           "name",
                                           "R",
                                           "\"text\"",
                                           "R\"(raw)\"",
                                           "'c'",
                                           "1'000",
                                           "0x1p3f",
                                           "// comment",
                                           "/* c */",
                                           "/",
                                           "x * y",
                                           "(a, b) {",
                                           "\t ",
                                           "\xc3\xa9",
                                           "@",
                                           "\"open",
                                           "'",
                                           "return x;",
                                           "template",
                                           "u8R\"d(x)d\"",
                                           "\\x"};
  std::mt19937 random(17);
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  std::size_t refused = 0, found = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text, marked;  // a comment on each line, so that each is looked at
    for (std::size_t line = 1 + pick(8); line > 0; --line) {
      for (std::size_t piece = pick(4); piece > 0; --piece) {
        // Few lines hold anything that matters, as in sources.
        const std::string& one = pick(3) == 0 ? pieces[pick(pieces.size())] : "value = f(x); ";
        text += one;
        marked += one;
      }
      text += " \n";
      marked += " /**/\n";
    }
    CAPTURE(text);
    const std::string got = scanned(text);
    REQUIRE(got == scanned(marked));
    (got.starts_with("f:") ? refused : found) += got.empty() ? 0 : 1;
  }
  CHECK(refused > 100);
  CHECK(found > 100);
}

}  // namespace
