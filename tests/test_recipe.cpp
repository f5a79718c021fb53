// Reading recipes: both forms, and every way they can be wrong.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <kiln/error.hpp>

#include "tests/testing.hpp"
#include "tools/recipe.hpp"

namespace {

using kiln::parse_recipe;
using kiln::Recipe;
using kiln::testing::contains;

const std::string kGood = "rms_norm_backward:n=64,x=f32,w=f32";

// The message of the Error{invalid_recipe} that reading gives; fails the test when it gives none.
template <class Read>
std::string refusal(Read read) {
  try {
    (void)read();
  } catch (const kiln::Error& error) {
    CHECK(error.code == kiln::ErrorCode::invalid_recipe);
    return error.what();
  }
  FAIL("nothing was thrown");
  return {};
}

TEST_CASE("a JSON recipe gives signatures with their models, sources and lines") {
  const Recipe recipe =
      parse_recipe("{\n  \"version\": 1,\n  \"entries\": [\n    {\"signature\": \"" + kGood +
                       "\", \"model\": \"M\", \"source\": \"S\"},\n    {\n      \"model\": "
                       "\"late\",\n      \"signature\": \"" +
                       kGood + "\"\n    }\n  ]\n}\n",
                   "r.json");
  REQUIRE(recipe.problems.empty());
  REQUIRE(recipe.entries.size() == 2);
  CHECK(recipe.entries[0].signature == kiln::Signature::parse(kGood));
  CHECK(recipe.entries[0].model == "M");
  CHECK(recipe.entries[0].source == "S");
  CHECK(recipe.entries[0].line == 4);
  CHECK(recipe.entries[1].line == 7);
  CHECK(recipe.entries[1].model == "late");
}

TEST_CASE("a text recipe has one signature a line and comments") {
  const Recipe recipe = parse_recipe("# models\n\n  " + kGood + "   # why\r\n" + kGood, "r");
  REQUIRE(recipe.problems.empty());
  REQUIRE(recipe.entries.size() == 2);
  CHECK(recipe.entries[0].line == 3);
  CHECK(recipe.entries[1].line == 4);
}

TEST_CASE("one bad line among good ones is named with its line, and the good ones are kept") {
  const Recipe text =
      parse_recipe(kGood + "\nrms_norm_backward:n=0,x=f32\n" + kGood + "\n", "r.txt");
  CHECK(text.entries.size() == 2);
  REQUIRE(text.problems.size() == 1);
  CHECK(text.problems[0].line == 2);
  CHECK_THAT(text.problems[0].detail, contains("n"));

  const std::string good = "{\"signature\": \"" + kGood + "\"}";
  const Recipe json = parse_recipe("{\"version\": 1, \"entries\": [\n" + good +
                                       ",\n{\"signature\": \"nope:n=1\"},\n" + good + "\n]}",
                                   "r.json");
  CHECK(json.entries.size() == 2);
  REQUIRE(json.problems.size() == 1);
  CHECK(json.problems[0].line == 3);
  CHECK_THAT(json.problems[0].detail, contains("nope"));
}

TEST_CASE("an entry of the wrong shape is a problem of its line, not of the recipe") {
  const std::string good = "{\"signature\": \"" + kGood + "\"}";
  const std::string bad =
      GENERATE(std::string("7"),
               std::string("\"text\""),
               std::string("null"),
               std::string("[1, [2]]"),
               std::string("{}"),
               std::string("{\"signature\": 7}"),
               std::string("{\"signature\": {\"op\": \"x\"}}"),
               std::string("{\"signature\": [\"x\"]}"),
               "{\"signature\": \"" + kGood + "\", \"signature\": \"" + kGood + "\"}",
               "{\"signature\": \"" + kGood + "\", \"modle\": \"M\"}",
               "{\"signature\": \"" + kGood + "\", \"model\": false}");
  CAPTURE(bad);
  const Recipe recipe = parse_recipe(
      "{\"entries\": [\n" + good + ",\n" + bad + ",\n" + good + "], \"version\": 1}", "r.json");
  CHECK(recipe.entries.size() == 2);
  REQUIRE(recipe.problems.size() == 1);
  CHECK(recipe.problems[0].line == 3);
}

TEST_CASE("a recipe that is unusable as a whole is refused with the reason") {
  const auto parse = [](const std::string& text, const std::string& name) {
    return refusal([&] { return parse_recipe(text, name); });
  };
  CHECK_THAT(parse("", "r.json"), contains("empty"));
  CHECK_THAT(parse(" \n\t\n", "r.txt"), contains("empty"));
  CHECK_THAT(parse("# nothing\n", "r.txt"), contains("no entries"));
  CHECK_THAT(parse("{\"version\": 1, \"entries\": []}", "r.json"), contains("no entries"));
  CHECK_THAT(parse("rms_norm_backward:n=64\n", "r.json"), contains("not JSON (line 1)"));
  CHECK_THAT(parse("{\n\"version\": 1,\n\"entries\": [oops]}", "r"), contains("not JSON (line 3)"));
  CHECK_THAT(parse("{\"version\": 1", "r.json"), contains("not JSON"));
  CHECK_THAT(parse("[1, 2]", "r.json"), contains("not a recipe"));
  CHECK_THAT(parse("7", "r.json"), contains("not a recipe"));
  CHECK_THAT(parse("{\"version\": 1}", "r.json"), contains("not a recipe"));
  CHECK_THAT(parse("{\"entries\": []}", "r.json"), contains("version"));
  CHECK_THAT(parse("{\"version\": 2, \"entries\": []}", "r.json"), contains("version"));
  CHECK_THAT(parse("{\"version\": \"1\", \"entries\": []}", "r.json"), contains("version"));
  CHECK_THAT(parse(std::string("\x7f"
                               "ELF\0\1",
                               6),
                   "r"),
             contains("zero byte"));
}

TEST_CASE("a recipe file that is absent or a folder is refused by name") {
  CHECK_THAT(refusal([] { return kiln::read_recipe("/nonexistent/recipe.json"); }),
             contains("/nonexistent/recipe.json"));
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK_THAT(refusal([&] { return kiln::read_recipe(folder); }), contains("a folder"));
}

TEST_CASE("the models' recipe has no bad line and names the origin of every width") {
  const Recipe recipe = kiln::read_recipe(KILN_SOURCE_DIR "/tools/recipes/models.json");
  CHECK(recipe.problems.empty());
  std::set<kiln::Signature> distinct;
  for (const kiln::RecipeEntry& entry : recipe.entries) {
    CAPTURE(entry.line, entry.signature.text());
    CHECK_FALSE(entry.model.empty());
    // The source quotes the width that the signature has.
    CHECK_THAT(
        entry.source,
        contains(std::string(" ") + std::string(entry.signature.value("n")) + " in config.json"));
    distinct.insert(entry.signature);
  }
  CHECK(distinct.size() >= 20);
}

std::vector<std::string> widths(const Recipe& recipe) {
  std::vector<std::string> found;
  for (const kiln::RecipeEntry& entry : recipe.entries) {
    found.push_back(std::string(entry.signature.value("n")) + std::string("/") +
                    std::string(entry.signature.value("x")));
  }
  return found;
}

TEST_CASE("lists and ranges of a text line multiply, the last one fastest, with the line kept") {
  const Recipe recipe = parse_recipe(
      "# two\n\nrms_norm_backward:n={64,128..256..64, 512..2048..*2},x={f32,bf16},w=none\n", "r");
  CHECK(recipe.problems.empty());
  CHECK(widths(recipe) == std::vector<std::string>{"64/f32",
                                                   "64/bf16",
                                                   "128/f32",
                                                   "128/bf16",
                                                   "192/f32",
                                                   "192/bf16",
                                                   "256/f32",
                                                   "256/bf16",
                                                   "512/f32",
                                                   "512/bf16",
                                                   "1024/f32",
                                                   "1024/bf16",
                                                   "2048/f32",
                                                   "2048/bf16"});
  for (const kiln::RecipeEntry& entry : recipe.entries) CHECK(entry.line == 3);
}

TEST_CASE("keys of a JSON entry take values, lists and ranges, and give what the text form gives") {
  const Recipe json = parse_recipe(R"({"version": 1, "entries": [
    {"op": "rms_norm_backward", "model": "M", "source": "S",
     "keys": {"n": [64, {"from": 128, "to": 256, "step": 64}, {"from": 512, "to": 2048, "times": 2}],
              "x": ["f32", "bf16"], "w": "none", "residual": [false, true]}},
    {"signature": "rms_norm_backward:n={64,128},x=f32,w=none"}]})",
                                   "r.json");
  CHECK(json.problems.empty());
  const Recipe text = parse_recipe(
      "rms_norm_backward:n={64,128..256..64,512..2048..*2},x={f32,bf16},w=none,residual={0,1}",
      "r");
  REQUIRE(json.entries.size() == text.entries.size() + 2);
  for (std::size_t i = 0; i < text.entries.size(); ++i) {
    CHECK(json.entries[i].signature == text.entries[i].signature);
    CHECK(json.entries[i].model == "M");
    CHECK(json.entries[i].line == 2);
  }
  CHECK(json.entries.back().line == 5);
}

TEST_CASE("refused combinations are counted on their line, and the others are kept") {
  const Recipe recipe = parse_recipe("rms_norm_backward:n={64,0,128,-1},x=f32,w=none\n", "r");
  CHECK(recipe.entries.size() == 2);
  REQUIRE(recipe.problems.size() == 1);
  CHECK(recipe.problems[0].line == 1);
  CHECK_THAT(recipe.problems[0].detail, contains("2 of 4 signatures are refused"));
  CHECK_THAT(recipe.problems[0].detail, contains("n=0"));
}

// Each refusal looks for a near name among all that are known: a hundred thousand of them are slow.
TEST_CASE("an op that nobody knows is refused once, however many signatures name it") {
  for (const char* text : {"rms_norm_bakward:n={1..99999},x=f32\n",
                           R"({"version": 1, "entries": [{"op": "rms_norm_bakward",
                               "keys": {"n": {"from": 1, "to": 99999}, "x": "f32"}}]})"}) {
    const Recipe recipe = parse_recipe(text, "r");
    CHECK(recipe.entries.empty());
    CHECK(recipe.tried == 1);
    REQUIRE(recipe.problems.size() == 1);
    CHECK_THAT(recipe.problems[0].detail, contains("99999 of 99999 signatures are refused"));
    CHECK_THAT(recipe.problems[0].detail, contains("unknown op"));
  }
  // Of several ops, those that are known are kept.
  const Recipe mixed =
      parse_recipe("# two ops\n{rms_norm_bakward,rms_norm_backward}:n={64,128},x=f32", "r");
  CHECK(mixed.entries.size() == 2);
  REQUIRE(mixed.problems.size() == 1);
  CHECK_THAT(mixed.problems[0].detail, contains("2 of 4 signatures are refused"));
}

TEST_CASE("signatures that are refused count towards the bound of a recipe") {
  const Recipe recipe = parse_recipe(
      "rms_norm_backward:n={-60000..-1},x=f32,w=none\nrms_norm_backward:n={-50000..-1},x=f32\n"
      "rms_norm_backward:n=64,x=f32,w=none\n",
      "r");
  CHECK(recipe.entries.size() == 1);
  CHECK(recipe.tried == 60001);
  REQUIRE(recipe.problems.size() == 2);
  CHECK(recipe.problems[1].line == 2);
  CHECK_THAT(recipe.problems[1].detail, contains("more than 100000"));
}

TEST_CASE("after a thousand bad entries a recipe is unusable as a whole, and soon") {
  std::string bad;
  for (int i = 0; i < 1000; ++i) bad += "rms_norm_backward:n={1..100001}\n";
  CHECK(parse_recipe(bad, "r").problems.size() == 1000);
  for (int i = 0; i < 10; ++i) bad += bad;
  try {
    (void)parse_recipe(bad, "r");
    FAIL("a recipe of bad entries was read");
  } catch (const kiln::Error& error) {
    CHECK(error.code == kiln::ErrorCode::invalid_recipe);
    CHECK_THAT(error.detail, contains("more than 1000 bad entries"));
    CHECK_THAT(error.detail, contains("line 1001"));
  }
}

TEST_CASE("a recipe that would expand without bounds is refused on the line that goes over") {
  const Recipe product = parse_recipe(
      "rms_norm_backward:n=64,x=f32,w=none\nrms_norm_backward:n={1..1000},x={1..1000},w={1..1000}\n"
      "rms_norm_backward:n={1..9223372036854775807},x=f32\n"
      "rms_norm_backward:n={1..100000},x=f32\n",
      "r");
  CHECK(product.entries.size() == 1);
  REQUIRE(product.problems.size() == 3);
  for (int i = 0; i < 3; ++i) {
    const kiln::RecipeProblem& problem = product.problems[static_cast<std::size_t>(i)];
    CHECK(problem.line == i + 2);
    CHECK_THAT(problem.detail, contains("more than 100000"));
  }
}

TEST_CASE("malformed lists and ranges are named with their line") {
  const std::string value = GENERATE(std::string("{"),
                                     std::string("}"),
                                     std::string("{}"),
                                     std::string("{64,}"),
                                     std::string("{{64}}"),
                                     std::string("{64..}"),
                                     std::string("{64..32}"),
                                     std::string("{64..128..0}"),
                                     std::string("{64..128..-1}"),
                                     std::string("{64..128..*1}"),
                                     std::string("{64..128..*0}"),
                                     std::string("{0..128..*2}"),
                                     std::string("{64..99999999999999999999}"),
                                     std::string("{64..128..x}"));
  CAPTURE(value);
  const Recipe recipe = parse_recipe(kGood + "\nrms_norm_backward:x=f32,n=" + value + "\n", "r");
  CHECK(recipe.entries.size() == 1);
  REQUIRE(recipe.problems.size() == 1);
  CHECK(recipe.problems[0].line == 2);
}

TEST_CASE("malformed keys of a JSON entry are a problem of its line") {
  const std::string keys =
      GENERATE(std::string("7"),
               std::string("[]"),
               std::string(R"({"n": []})"),
               std::string(R"({"n": 1.5})"),
               std::string(R"({"n": null})"),
               std::string(R"({"n": [[64]]})"),
               std::string(R"({"n": [[[[[[[64]]]]]]]})"),
               std::string(R"({"n": 64, "n": 65})"),
               std::string(R"({"n": {"from": 64}})"),
               std::string(R"({"n": {"from": 64, "to": 1e3}})"),
               std::string(R"({"n": {"from": 64, "to": 18446744073709551615}})"),
               std::string(R"({"n": {"from": 64, "to": 99, "by": 2}})"),
               std::string(R"({"n": {"from": 64, "to": 99, "times": 0}})"),
               std::string(R"({"n": {"from": 64, "to": 99, "times": 2, "step": 1}})"),
               std::string(R"({"n": "64,x=bf16"})"),
               std::string(R"({"n=64,x": "f32"})"));
  CAPTURE(keys);
  const Recipe recipe =
      parse_recipe(R"({"version": 1, "entries": [{"signature": ")" + kGood +
                       "\"},\n{\"op\": \"rms_norm_backward\", \"keys\": " + keys + "}]}",
                   "r.json");
  CHECK(recipe.entries.size() == 1);
  REQUIRE(recipe.problems.size() == 1);
  CHECK(recipe.problems[0].line == 2);
}

}  // namespace
