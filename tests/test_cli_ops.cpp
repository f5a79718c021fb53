// Ops of the user's own, from a file, in every verb that reads signatures.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <kiln/described_op.hpp>
#include <kiln/service.hpp>
#include <nlohmann/json.hpp>

#include "tests/cache_fixtures.hpp"
#include "tests/cli_program.hpp"
#include "tests/testing.hpp"

namespace {

using kiln::testing::contains;
using kiln::testing::Program;
using kiln::testing::Ran;
using Json = nlohmann::json;

const std::string kFile = KILN_SOURCE_DIR "/examples/l2_norm_backward.json";
const std::string kSignature = "l2_norm_backward:n=256";

std::string example() {
  std::ifstream file(kFile);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("a described op is explained and emitted like any other") {
  const Program program;
  const Ran explained =
      program.run({"explain", "--ops", kFile, kSignature, "--arch", "sm_90a", "--json"});
  REQUIRE(explained.code == 0);
  const Json plan = Json::parse(explained.out);
  CHECK(plan["route"] == "fused");
  CHECK(plan["signature"] == "l2_norm_backward:gain=bf16,n=256,x=bf16");
  const Ran emitted = program.run({"emit", kSignature, "--ops", kFile, "--arch", "sm_90a"});
  CHECK(emitted.code == 0);
  CHECK_THAT(emitted.out, contains("extern \"C\" __global__") && contains("__fsqrt_rn"));
  const Ran unknown = program.run({"explain", kSignature, "--arch", "sm_90a"});
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, contains("unknown op \"l2_norm_backward\""));
}

TEST_CASE("a described op is warmed by worker processes, alone and from a recipe") {
  const Program program;
  const std::string recipe = program.write("recipe.txt", "l2_norm_backward:n={64,128}\n");
  const Ran warmed = program.run({"warm",
                                  "--ops",
                                  kFile,
                                  "--signature",
                                  kSignature,
                                  "--recipe",
                                  recipe,
                                  "--arch",
                                  "sm_90a",
                                  "--jobs",
                                  "2"});
  CAPTURE(warmed.out, warmed.err);
  CHECK(warmed.code == 0);
  CHECK(program.entries().size() == 3);
  const Ran again =
      program.run({"warm", "--ops", kFile, "--signature", kSignature, "--arch", "sm_90a"},
                  {{"KILN_DISABLE_JIT", "1"}});
  CHECK(again.code == 0);
  CHECK_THAT(again.out, contains("1 hits"));
  const Ran found = program.run({"why", "--ops", kFile, kSignature, "--arch", "sm_90a"});
  CHECK_THAT(found.out, contains("hit"));
}

TEST_CASE("a described op too wide for a fused kernel has composed ones, compiled and cached") {
  const Program program;
  const std::string wide = "l2_norm_backward:n=40000";
  const auto warm = [&](const std::map<std::string, std::string>& environment) {
    const Ran ran =
        program.run({"warm", "--ops", kFile, "--signature", wide, "--arch", "sm_90a"}, environment);
    CAPTURE(ran.out, ran.err);
    CHECK(ran.code == 0);
    CHECK_THAT(ran.out, contains("composed"));
    return ran.out;
  };
  CHECK_THAT(warm({}), contains("1 compiled"));
  const auto emitted = [&](const std::string& stage) {
    return program.run({"emit", "--ops", kFile, wide, "--arch", "sm_90a", "--stage", stage});
  };
  CHECK_THAT(emitted("0").out, contains("l2_norm_backward_rows_"));
  CHECK_THAT(emitted("1").out, contains("l2_norm_backward_columns_"));
  CHECK_THAT(emitted("2").err, contains("kernel 2 is compiled when kiln is built"));
  CHECK(program.entries().size() == 2);  // rows and columns; what finishes them is built in
  CHECK_THAT(warm({{"KILN_DISABLE_JIT", "1"}}), contains("1 hits"));
}

TEST_CASE("a described op's composed kernels are compiled once, and come from memory then") {
  kiln::register_op_file(kFile);
  const kiln::cache::testing::TemporaryFolder folder;
  kiln::Options options;
  options.policy.cache_dir = folder.path().string();
  kiln::Service service(options);
  const auto origins = [&] {
    const kiln::Prepared prepared =
        service.prepare(kiln::Signature::parse("l2_norm_backward:n=40000"), kiln::Arch{9, 0, 'a'});
    CHECK(prepared.plan().route == kiln::Route::composed);
    std::vector<kiln::Origin> out;
    for (const kiln::StagePlan& stage : prepared.plan().stages) out.push_back(stage.origin);
    return out;
  };
  using kiln::Origin;
  CHECK(origins() == std::vector{Origin::compiled, Origin::compiled, Origin::embedded});
  CHECK(origins() == std::vector{Origin::memory, Origin::memory, Origin::embedded});
  CHECK(service.statistics().compiles == 2);
}

TEST_CASE("another formula is another kernel") {
  const Program program;
  const auto warm = [&](const std::string& file) {
    return program.run({"warm", "--ops", file, "--signature", kSignature, "--arch", "sm_90a"}).code;
  };
  REQUIRE(warm(kFile) == 0);
  REQUIRE(warm(program.write("other.json", replaced(example(), "square + eps", "square - eps"))) ==
          0);
  CHECK(program.entries().size() == 2);
}

TEST_CASE("without a compiler a described op that is not cached says what to warm") {
  const Program program;
  const Ran ran =
      program.run({"warm", "--ops", kFile, "--signature", kSignature, "--arch", "sm_90a"},
                  {{"KILN_DISABLE_JIT", "1"}});
  CHECK(ran.code != 0);
  CHECK_THAT(ran.err,
             contains("unavailable") &&
                 contains("the composed kernels of a described op are compiled too") &&
                 contains("kiln warm --ops FILE --signature 'l2_norm_backward:gain=bf16,n=256"));
}

TEST_CASE("a mistake in a description is found with its file, statement and column") {
  const Program program;
  const auto error = [&](const std::string& file) {
    const Ran ran = program.run({"explain", "--ops", file, kSignature, "--arch", "sm_90a"});
    CHECK(ran.code != 0);
    CHECK(ran.out.empty());
    return ran.err;
  };
  const std::string bad =
      program.write("bad.json", replaced(example(), "dot * (r * r)", "dot * (q * r)"));
  CHECK_THAT(error(bad), contains(bad + ", formula 5, column 25: \"q\" is not defined"));
  const std::string taken =
      program.write("taken.json", replaced(example(), "\"l2_norm_backward\"", "\"absmax\""));
  CHECK_THAT(error(taken), contains(taken + ": \"absmax\" is built in already"));
  const std::string other = program.write(
      "other.json", replaced(example(), "\"l2_norm_backward\"", "\"grouped_gemm_forward\""));
  CHECK_THAT(error(other), contains("\"grouped_gemm_forward\" is built in already"));
  CHECK_THAT(error(program.folder() + "/none.json"), contains("cannot read"));
  const Ran two = program.run({"explain",
                               "--ops",
                               kFile,
                               "--ops",
                               program.write("again.json", example() + " "),
                               kSignature,
                               "--arch",
                               "sm_90a"});
  CHECK_THAT(two.err, contains("is described already by " + kFile));
}

}  // namespace
