// Closures: every header a source reaches, and nothing that could make a digest lie.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "src/core/closure.hpp"
#include "src/core/digest.hpp"
#include "src/core/include_scanner.hpp"
#include "tests/testing.hpp"

using namespace kiln;
using kiln::testing::contains;

namespace {

const std::vector<EmbeddedFile> kFiles = {
    {"kernels/norm/row.cuh", "#pragma once\n#include \"templates/types.cuh\"\n"},
    {"templates/copy.cuh", "#pragma once\n#include \"templates/types.cuh\"\n"},
    {"templates/loop_a.cuh", "#pragma once\n#include \"templates/loop_b.cuh\"\n"},
    {"templates/loop_b.cuh", "#pragma once\n#include \"templates/loop_a.cuh\"\n"},
    {"templates/outside.cuh", "#pragma once\n\n#include <cuda_bf16.h>\n"},
    {"templates/types.cuh", "#pragma once\n"},
};

std::vector<std::string> names(std::string text) {
  const Closure closure = close_includes({std::move(text), "k"}, kFiles);
  std::vector<std::string> out;
  for (const EmbeddedFile& file : closure.headers) out.emplace_back(file.name);
  return out;
}

std::string refusal(std::string text) {
  try {
    (void)close_includes({std::move(text), "k"}, kFiles);
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::invalid_source);
    return error.detail;
  }
  return "nothing was refused";
}

using Names = std::vector<std::string>;
const Names kTypesOnly = {"templates/types.cuh"};

}  // namespace

TEST_CASE("a closure holds every header reached, once, sorted") {
  CHECK(names("int x;").empty());
  CHECK(names("").empty());
  CHECK(names("#include \"templates/copy.cuh\"\n#include \"kernels/norm/row.cuh\"\n") ==
        Names{"kernels/norm/row.cuh", "templates/copy.cuh", "templates/types.cuh"});
  CHECK(names("#include <templates/types.cuh>") == kTypesOnly);
  CHECK(names("#include \"templates/loop_a.cuh\"\n") ==
        Names{"templates/loop_a.cuh", "templates/loop_b.cuh"});
}

TEST_CASE("an include is found however it is written") {
  for (const std::string text : {
           "  #  include  \"templates/types.cuh\"  ",
           "\t#\tinclude\"templates/types.cuh\"// why",
           "/* a */ # /* b */ include /* c */ \"templates/types.cuh\" /* d */",
           "/* spans\nlines */ #include \"templates/types.cuh\"",
           "#inc\\\nlude \"templates/types.cuh\"",
           "#\\\n\\\ninclude \"templates/\\\ntypes.cuh\"",
           "#inc\\\r\nlude \"templates/types.cuh\"\r\n",
           "%:include \"templates/types.cuh\"",
           "#if 0\n#include \"templates/types.cuh\"\n#endif",
           "const char* s = \"//\"; /*\n*/ int y;\n#include \"templates/types.cuh\"",
           "char c = '\"';\n#include \"templates/types.cuh\"\nchar d = '\"';",
           "char c = '\\'';\n#include \"templates/types.cuh\"\nchar d = '\\'';",
           "int n = 1'000'000;\n#include \"templates/types.cuh\"\nint m = 0xff'ff;",
           "auto s = R\"(\" /* )\";\n#include \"templates/types.cuh\"\n// */",
           "auto s = u8R\"x()\" )x\";\n#include \"templates/types.cuh\"\n",
           "auto s = R\"(\\\n)\";\n#include \"templates/types.cuh\"\n",
           "auto s = R\\\n\"(\"/*)\";\n#include \"templates/types.cuh\"\n",
           "// a comment \\\\ that ends\n#include \"templates/types.cuh\"\n",
           "#\n#include \"templates/types.cuh\"\n",
           "#define A(x) #x\n#include \"templates/types.cuh\"\n",
       }) {
    INFO(text);
    CHECK(names(text) == kTypesOnly);
  }
}

TEST_CASE("a line continuation anywhere changes nothing") {
  // Of a text with every kind of token; no raw string, in which continuations are two characters.
  const std::string text =
      "/* a\nb */ int name_1 = 1'000; // c\n"
      "#if X // d\n"
      " # include \"templates/types.cuh\" /* e */\n"
      "%:include <templates/copy.cuh>\n"
      "auto s = \"'\" + 'c' - .5'0f / (2 % a[3]); int __DATE, TIME__;\n";
  const Names expected = {"templates/copy.cuh", "templates/types.cuh"};
  REQUIRE(names(text) == expected);
  for (const std::string continuation : {"\\\n", "\\\r\n", "\\\n\\\n"}) {
    for (std::size_t i = 0; i <= text.size(); ++i) {
      std::string split = text;
      split.insert(i, continuation);
      INFO(split);
      CHECK(names(split) == expected);
    }
  }
  const std::string refused = "int x = __TIMESTAMP__;";
  for (std::size_t i = 0; i <= refused.size(); ++i) {
    std::string split = refused;
    split.insert(i, "\\\n");
    CHECK_THAT(refusal(split), contains("__TIMESTAMP__"));
  }
}

TEST_CASE("what only looks like an include is none") {
  for (const std::string text : {
           "// #include \"nowhere.cuh\"",
           "// continued \\\n#include \"nowhere.cuh\"",
           "/*\n#include \"nowhere.cuh\"\n*/",
           "const char* s = \"\\\n#include <nowhere.cuh>\";",
           "auto s = R\"(\n#include \"nowhere.cuh\"\n)\";",
           "auto s = LR\"ab(\n)\"\n#include \"nowhere.cuh\"\n)ab\";",
           "int x; #include \"nowhere.cuh\"",
           "int x; /*\n*/ #include \"nowhere.cuh\"",
           "/* // */ int include; /* __DATE__ */ // __TIME__ __has_include",
           "const char* s = \"__DATE__ __TIMESTAMP__\";",
           "int __DATE__x, x__TIME__;",
       }) {
    INFO(text);
    CHECK(names(text).empty());
  }
}

TEST_CASE("what cannot be trusted is refused with its file and line") {
  struct Case {
    std::string text;
    std::string where;
    std::string piece;
  };
  for (const Case& item : {
           Case{"\n\n#include \"nowhere.cuh\"", "kiln.cu:3", "\"nowhere.cuh\" is not embedded"},
           Case{"#include \"template/types.cuh\"",
                "kiln.cu:1",
                "did you mean \"templates/types.cuh\""},
           Case{"#include \"templates/outside.cuh\"", "templates/outside.cuh:3", "cuda_bf16.h"},
           Case{"#include \"../templates/types.cuh\"", "kiln.cu:1", "not embedded"},
           Case{"#include \"./templates/types.cuh\"", "kiln.cu:1", "not embedded"},
           Case{"#include \"templates//types.cuh\"", "kiln.cu:1", "not embedded"},
           Case{"#include \"types.cuh\"", "kiln.cu:1", "not embedded"},
           Case{"#include \"\"", "kiln.cu:1", "not embedded"},
           Case{"#define X \"templates/types.cuh\"\n#include X", "kiln.cu:2", "computed"},
           Case{"#include", "kiln.cu:1", "computed"},
           Case{"#include \"templates/types.cuh", "kiln.cu:1", "not closed"},
           Case{"#include <templates/types.cuh\n>", "kiln.cu:1", "not closed"},
           Case{"#include \"templates/types.cuh\" x", "kiln.cu:1", "follows"},
           Case{"#include_next \"templates/types.cuh\"", "kiln.cu:1", "#include_next"},
           Case{"#import \"templates/types.cuh\"", "kiln.cu:1", "#import"},
           Case{"#\xff\x80 x", "kiln.cu:1", "\"#\\xff\\x80\""},
           Case{"int a[] = {\n#embed \"data\"\n};", "kiln.cu:2", "#embed"},
           Case{"#if __has_include(<cuda.h>)\n#endif", "kiln.cu:1", "__has_include"},
           Case{"#if __has_\\\ninclude(<cuda.h>)\n#endif", "kiln.cu:1", "__has_include"},
           Case{"#if __has_embed(\"x\")\n#endif", "kiln.cu:1", "__has_embed"},
           Case{"\nauto d = __DATE__;", "kiln.cu:2", "__DATE__"},
           Case{"auto d = __TIME__;", "kiln.cu:1", "__TIME__"},
           Case{"#define NOW __TIMESTAMP__", "kiln.cu:1", "__TIMESTAMP__"},
           Case{"#define CAT(a, b) a##b\nauto d = CAT(__DA, TE__);", "kiln.cu:1", "pasting"},
           Case{"#define CAT(a, b) a%:%:b", "kiln.cu:1", "pasting"},
           Case{"/* open", "kiln.cu:1", "comment"},
           Case{"auto s = R\"(open", "kiln.cu:1", "raw string"},
           Case{"auto s = R\"open\";", "kiln.cu:1", "raw string"},
           Case{"auto s = R\"a b(x)a b\";", "kiln.cu:1", "raw string"},
           Case{"auto s = R\"0123456789abcdefg(x)0123456789abcdefg\";", "kiln.cu:1", "raw string"},
           Case{"auto s = \"open\nint x;", "kiln.cu:1", "not closed on its line"},
           Case{"#error it doesn't", "kiln.cu:1", "not closed on its line"},
           Case{"// odd \\ \n#include \"templates/types.cuh\"", "kiln.cu:1", "backslash"},
           Case{"int x;\r#include \"templates/types.cuh\"", "kiln.cu:1", "carriage return"},
           Case{"// what?\?/\n#include \"templates/types.cuh\"", "kiln.cu:1", "trigraph"},
           Case{std::string("int x;\0", 7), "kiln.cu:1", "zero byte"},
       }) {
    const std::string detail = refusal(item.text);
    INFO(item.text << " gave " << detail);
    CHECK_THAT(detail, contains(item.where));
    CHECK_THAT(detail, contains(item.piece));
  }
}

TEST_CASE("no bytes crash the scanner, and it answers the same twice") {
  std::mt19937 random(3);
  const std::string pieces = "#include \"<>'/*R()\\\n\r_%:.?0a";
  int answered = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (auto left = random() % 40; left > 0; --left) {
      text += random() % 12 == 0 ? std::string("\n#include \"a\"\n")
                                 : std::string(1, pieces[random() % pieces.size()]);
    }
    try {
      const auto first = scan_includes("f", text);
      REQUIRE(scan_includes("f", text).size() == first.size());
      ++answered;
    } catch (const Error& error) {
      REQUIRE(error.code == ErrorCode::invalid_source);
    }
  }
  CHECK(answered > 100);
}

TEST_CASE("one set of headers closes many sources as if each were the first, from any thread") {
  const Headers headers(kFiles);
  const std::vector<std::string> texts = {"#include \"templates/copy.cuh\"\n",
                                          "#include \"templates/loop_a.cuh\"\n",
                                          "#include \"kernels/norm/row.cuh\"\n",
                                          "#include \"templates/outside.cuh\"\n",
                                          "#include \"templates/absent.cuh\"\n",
                                          "int x;"};
  const auto answer = [](auto&& close) {
    try {
      std::string all;
      for (const EmbeddedFile& header : close().headers) {
        // What is known of a header changes no key.
        if (header.sha256 && *header.sha256 != sha256(header.text))
          return std::string("a wrong hash");
        all += std::string(header.name) + "\n";
      }
      return all;
    } catch (const Error& error) {
      return error.detail;
    }
  };
  std::vector<std::thread> threads;
  std::atomic<int> different{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        for (const std::string& text : texts) {
          const std::string again = answer([&] { return headers.close({text, "k"}); });
          if (again != answer([&] { return close_includes({text, "k"}, kFiles); })) ++different;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(different == 0);
  CHECK_THAT(answer([&] { return headers.close({texts[3], "k"}); }), contains("outside.cuh:3"));
}

TEST_CASE("a header's hash that is known gives the key that hashing it gives") {
  const std::string source = "#include \"templates/copy.cuh\"\n";
  const Closure known = Headers(kFiles).close({source, "k"});
  Closure unknown = known;
  for (EmbeddedFile& header : unknown.headers) header.sha256.reset();
  const auto key_of = [](const Closure& closure) {
    return make_key("f", 1, closure, CompileOptions::standard(), {9, 0, 'a'});
  };
  CHECK(key_of(known) == key_of(unknown));
}
