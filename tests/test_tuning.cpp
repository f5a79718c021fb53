// Tuning files: read, written, refused with the reason, and obeyed by plans.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>
#include <kiln/service.hpp>

#include "src/core/tuning.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/cli_program.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
using cache::testing::TemporaryFolder;
using kiln::testing::contains;

constexpr const char* kSignature = "grouped_gemm_forward:n=4096,k=2048";
const Arch kHopper{9, 0, 'a'};

std::string choice(const std::string& signature, const std::string& candidate) {
  return R"({"version": 1, "choices": [{"signature": ")" + signature +
         R"(", "arch": "sm_90a", "candidate": ")" + candidate + R"("}]})";
}

TEST_CASE("a tuning file is read, added to and written as it was") {
  Tuning tuning = Tuning::parse(choice(kSignature, "t128x128_c2_b8"), "here");
  const std::string canonical = Signature::parse(kSignature).text();
  CHECK(tuning.candidate(canonical, "sm_90a") == "t128x128_c2_b8");
  CHECK(tuning.candidate(canonical, "sm_100a").empty());
  tuning.choose({canonical, "sm_90a", "t128x192_c1_b8", "a GPU", 12.5, "64 rows"});
  tuning.choose({canonical, "sm_100a", "other", "", 0, ""});
  REQUIRE(tuning.choices().size() == 2);
  const Tuning again = Tuning::parse(tuning.text(), "again");
  CHECK(again.text() == tuning.text());
  CHECK(again.candidate(canonical, "sm_90a") == "t128x192_c1_b8");
  CHECK(again.choices()[0].microseconds == 12.5);
}

TEST_CASE("a tuning file that cannot be used is named, with what is wrong and what to do") {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "JSON"},
      {"{", "JSON"},
      {"[]", "no JSON object"},
      {"{}", "\"version\""},
      {R"({"version": 2, "choices": []})", "\"version\""},
      {R"({"version": "1", "choices": []})", "\"version\""},
      {R"({"version": 1})", "\"choices\""},
      {R"({"version": 1, "choices": {}})", "\"choices\""},
      {R"({"version": 1, "choices": [3]})", "choice 1 is no object"},
      {R"({"version": 1, "choices": [{"arch": "sm_90a", "candidate": "x"}]})", "\"signature\""},
      {R"({"version": 1, "choices": [{"signature": 7, "arch": "sm_90a", "candidate": "x"}]})",
       "no text"},
      {choice("rms_norm:n=8", "x"), "choice 1: "},
      {choice(kSignature, ""), "\"candidate\" is empty"},
      {R"({"version": 1, "choices": [{"signature": "rms_norm_backward:n=8", "arch": "sm_9", "candidate": "x"}]})",
       "choice 1: "},
      {std::string("{\"version\": 1, \"choices\": [{\"signature\": \"\xff\"}]}"), "JSON"},
  };
  for (const auto& [text, what] : bad) {
    CAPTURE(text);
    try {
      (void)Tuning::parse(text, "/a/file");
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code == ErrorCode::invalid_policy);
      CHECK_THAT(error.detail, contains("/a/file"));
      CHECK_THAT(error.detail, contains(what));
      CHECK_THAT(error.detail, contains("kiln tune"));
    }
  }
}

Options options_with(const std::string& file, std::vector<std::string>& warnings) {
  Options options;
  options.policy.tuning_file = file;
  options.log = [&warnings](LogLevel level, std::string_view message) {
    if (level >= LogLevel::warn) warnings.emplace_back(message);
  };
  return options;
}

std::string tile_of(const Service& service, const std::string& signature = kSignature) {
  return service.plan(Signature::parse(signature), kHopper).stages.front().tile;
}

TEST_CASE("plans obey a tuning file, and one of another version stops nothing") {
  const TemporaryFolder folder;
  const std::string file = (folder / "tuning.json").string();
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  std::vector<std::string> warnings;
  const std::string planners = tile_of(Service(options_with("", warnings)));
  write(choice(kSignature, "t128x128_c1_b8"));
  CHECK(tile_of(Service(options_with(file, warnings))) == "128 rows x 128 columns x 64 deep");
  CHECK(warnings.empty());
  write(choice(kSignature, "of another version"));
  CHECK(tile_of(Service(options_with(file, warnings))) == planners);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], contains(file));
  CHECK_THAT(warnings[0], contains("t128x128_c1_b8"));
  const std::string norm = "rms_norm_backward:n=4096";
  write(choice(norm, "r4_t256_l2_c1_k1_w1_x1"));
  CHECK(tile_of(Service(options_with(file, warnings)), norm) == "4 rows x 4096 columns");
  CHECK(tile_of(Service(options_with(file, warnings))) == planners);
  CHECK(warnings.size() == 1);
  // Too wide for the fused kernel: there is no choice.
  write(choice("rms_norm_backward:n=65536", "r4_t256_l2_c1_k1_w1_x1"));
  CHECK_NOTHROW(Service(options_with(file, warnings))
                    .plan(Signature::parse("rms_norm_backward:n=65536"), kHopper));
  REQUIRE(warnings.size() == 2);
  CHECK_THAT(warnings[1], contains("none to choose among"));
  for (const std::string& bad : {folder.path().string(), file + ".absent"})
    CHECK_THROWS_AS(Service(options_with(bad, warnings)), Error);
}

// What makes it another kernel than its neighbours.
std::string kernel_of(const StagePlan& stage) {
  std::string text = fmt::format("{} {} {}", stage.entry, stage.threads, stage.ctas_per_sm);
  for (const auto& [name, value] : stage.constants) text += fmt::format(" {}={}", name, value);
  return text;
}

TEST_CASE("every candidate has a plan of its own that fits, and others are refused by name") {
  std::vector<std::string> warnings;
  for (const std::string text : {kSignature,
                                 "grouped_gemm_dgrad:n=2880,k=2880,out=f32",
                                 "grouped_gemm_wgrad:n=8,k=8",
                                 "grouped_gemm_wgrad:n=2816,k=2048,accumulate=1",
                                 "grouped_gemm_wgrad:n=2816,k=2048,out=f32,accumulate=1",
                                 "rms_norm_backward:n=4096",
                                 "layer_norm_forward:n=1024,residual=1",
                                 "rms_norm_pair_backward:n=8192,x=f32,residual=1"}) {
    const Signature signature = Signature::parse(text);
    Options options = options_with("", warnings);
    const std::vector<std::string> names = Service(options).candidates(signature, kHopper);
    const bool grouped = text.starts_with("grouped");
    CHECK(names.size() >= (grouped ? 20 : 8));
    CHECK(Service(options).candidates(signature, Arch{10, 0, 'a'}).empty() == grouped);
    std::set<std::string> kernels;
    for (const std::string& name : names) {
      CAPTURE(text, name);
      options.policy.candidate = name;
      const Plan plan = Service(options).plan(signature, kHopper);
      REQUIRE(plan.route == Route::fused);
      REQUIRE(plan.stages.size() == 1);
      CHECK(plan.stages[0].smem_bytes <= limits_of(kHopper).smem_per_cta_bytes);
      CHECK(kernels.insert(kernel_of(plan.stages[0])).second);
    }
    options.policy.candidate = "t1";
    try {
      (void)Service(options).plan(signature, kHopper);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK_THAT(error.detail, contains(names.front()));
    }
  }
}

TEST_CASE("a candidate can be forced, explained and warmed, and one that there is not is refused") {
  const kiln::testing::Program program;
  const std::string norm = "rms_norm_backward:n=4096";
  const std::string name = "r4_t256_l2_c1_k1_w1_x1";
  const auto ran = [&](std::vector<std::string> arguments, const std::string& candidate) {
    if (!candidate.empty()) arguments.insert(arguments.end(), {"--candidate", candidate});
    return program.run(arguments);
  };
  const std::vector<std::string> explain{"explain", norm, "--arch", "sm_90a"};
  CHECK_THAT(ran(explain, name).out, contains("256 a CTA, 1 CTAs an SM"));
  CHECK_THAT(ran(explain, name).out, contains(name));
  const std::vector<std::string> warm{"warm", "--signature", norm, "--arch", "sm_90a", "--json"};
  const kiln::testing::Ran forced = ran(warm, name), planners = ran(warm, "");
  CHECK(forced.code == 0);
  CHECK_THAT(forced.out, contains("_t4x4096_"));
  CHECK(planners.code == 0);
  CHECK_THAT(planners.out, !contains("_t4x4096_"));
  for (const auto& arguments : {explain, warm}) {
    const kiln::testing::Ran refused = ran(arguments, "r3");
    CHECK(refused.code != 0);
    CHECK_THAT(refused.out + refused.err, contains(name));
  }
}

TEST_CASE("a file that cannot keep a winner is refused before anything is measured") {
  const kiln::testing::Program program;
  const TemporaryFolder folder;
  const std::string nowhere = (folder / "absent" / "tuning.json").string();
  const kiln::testing::Ran lost = program.run({"tune", kSignature, "--store", nowhere});
  CHECK(lost.code == 1);
  CHECK_THAT(lost.err, contains(nowhere));
  const std::string broken = (folder / "tuning.json").string();
  std::ofstream(broken) << "{";
  const kiln::testing::Ran bad = program.run({"tune", kSignature, "--store", broken});
  CHECK(bad.code == 2);
  CHECK_THAT(bad.err, contains(broken));
}

TEST_CASE("a signature that lacks the candidate fails alone, and the pack holds the others") {
  const kiln::testing::Program program;
  const TemporaryFolder folder;
  const std::string pack = (folder / "kernels.kpack").string();
  const kiln::testing::Ran ran = program.run({"warm",
                                              "--candidate",
                                              "r2_t256_l2_c1_k1_w1_x1",
                                              "--signature",
                                              "rms_norm_backward:n=4096",
                                              "--signature",
                                              "rms_norm_backward:n=128",
                                              "--arch",
                                              "sm_90a",
                                              "--pack",
                                              pack});
  CAPTURE(ran.out, ran.err);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, contains("n=128") && contains("has no candidate"));
  CHECK(std::filesystem::file_size(pack) > 10'000);  // a cubin
}

}  // namespace
