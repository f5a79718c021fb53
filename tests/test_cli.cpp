// The command line as its users meet it: exit codes, what is data and what is not, JSON, bad
// requests.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/cli_program.hpp"
#include "tests/testing.hpp"

namespace {

using kiln::testing::contains;
using kiln::testing::Program;
using kiln::testing::Ran;
using Json = nlohmann::json;

const std::string kSmall = "rms_norm_backward:n=64,x=f32,w=none";

// Drivers answer differently where there is a GPU.
bool has_gpu(const Program& program) {
  return program.run({"run", kSmall, "--rows", "1", "--no-time"}, {{"KILN_DISABLE_JIT", "1"}})
             .code != 3;
}

TEST_CASE("help and version are data and exit with 0") {
  const Program program;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--version"},
                                                    {"--help"},
                                                    {"warm", "--help"},
                                                    {"run", "--help"},
                                                    {"explain", "--help"},
                                                    {"emit", "--help"},
                                                    {"list", "--help"},
                                                    {"verify", "--help"},
                                                    {"doctor", "--help"}}) {
    CAPTURE(arguments);
    const Ran ran = program.run(arguments);
    CHECK(ran.code == 0);
    CHECK(ran.err.empty());
    CHECK_FALSE(ran.out.empty());
    if (arguments.front() != "--version") CHECK_THAT(ran.out, contains("Example"));
  }
  CHECK(program.run({"--version"}).out == "kiln " KILN_VERSION "\n");
  CHECK_THAT(program.run({"--help"}).out, !contains("worker"));
}

TEST_CASE("a wrong request exits with 2, says why on stderr, and gives no data") {
  const Program program;
  const std::vector<std::vector<std::string>> requests{
      {},
      {"bogus"},
      {"warm"},
      {"warm", "--bogus"},
      {"warm", "--signature", kSmall, "--jobs", "0"},
      {"warm", "--signature", kSmall, "--jobs", "many"},
      {"warm", "--signature", kSmall, "--arch", "sm_91"},
      {"warm",
       "--signature",
       kSmall,
       "--arch",
       "sm_90a,"
       "sm_1"},
      {"warm",
       "--signature",
       kSmall,
       "--signature",
       "rms_norm_backward:n=0,x=f32",
       "--arch",
       "sm_90a"},
      {"explain"},
      {"explain", kSmall, "--arch", "hopper"},
      {"explain", kSmall, kSmall, "--arch", "sm_90a"},
      {"emit", kSmall, "--arch", "sm_90a", "--stage", "9"},
      {"run"},
      {"run", "nonsense"},
      {"run", kSmall, "--rows", "-1"},
      {"run", kSmall, "--route", "fast"},
      {"list", "extra"}};
  for (const auto& arguments : requests) {
    CAPTURE(arguments);
    const Ran ran = program.run(arguments);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, contains("kiln: "));
  }
  CHECK(program.entries().empty());
}

TEST_CASE("a bad signature exits with 2 and its piece is named") {
  const Program program;
  const std::map<std::string, std::string> bad{
      {"rms_norm_backwards:n=64,x=f32", "rms_norm_backward"},
      {"rms_norm_backward:n=64,x=f32,widht=2", "widht"},
      {"rms_norm_backward:n=64,x=f64", "f64"},
      {"rms_norm_backward:n=0,x=f32", "0"},
      {"rms_norm_backward:n=-4,x=f32", "-4"},
      {"rms_norm_backward:n=9223372036854775808,x=f32", "9223372036854775808"},
      {"rms_norm_backward:n=64,n=64,x=f32", "n"},
      {"rms_norm_backward:", "rms_norm_backward"},
      {"", "op"}};
  for (const auto& [signature, piece] : bad) {
    CAPTURE(signature);
    for (const std::string verb : {"explain", "emit"}) {
      const Ran ran = program.run({verb, signature, "--arch", "sm_90a"});
      CHECK(ran.code == 2);
      CHECK(ran.out.empty());
      CHECK_THAT(ran.err, contains(piece));
    }
  }
}

TEST_CASE("an error under --json is a JSON document on stdout as well") {
  const Program program;
  const Ran ran =
      program.run({"explain", "rms_norm_backward:n=0,x=f32", "--arch", "sm_90a", "--json"});
  CHECK(ran.code == 2);
  CHECK(Json::parse(ran.out).at("error").at("code") == "invalid_signature");
}

TEST_CASE("without a GPU whatever needs one exits with 3 and says what to do") {
  const Program program;
  if (has_gpu(program)) return;
  const Ran ran = program.run({"run", kSmall, "--rows", "4", "--json"});
  CHECK(ran.code == 3);
  CHECK(Json::parse(ran.out).contains("error"));
  const Ran native = program.run({"warm", "--signature", kSmall, "--arch", "native"});
  CHECK(native.code == 3);
  CHECK_THAT(native.err, contains("--arch sm_90a"));
}

TEST_CASE("explain gives the plan without compiling, and says what a shorter name means") {
  const Program program;
  const Ran ran =
      program.run({"explain", "rms_norm_backward:x=f32,w=none,n=64", "--arch", "sm_90", "--json"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, contains("sm_90 means sm_90a"));
  const Json plan = Json::parse(ran.out);
  CHECK(plan.at("arch") == "sm_90a");
  CHECK(plan.at("route") == "fused");
  CHECK_FALSE(plan.at("stages").empty());
  CHECK(program.entries().empty());
  CHECK_THAT(program.run({"explain", kSmall, "--arch", "sm_90a"}).out, contains("shared memory"));
}

TEST_CASE("emit prints the source and nothing else") {
  const Program program;
  const Ran text = program.run({"emit", kSmall, "--arch", "sm_90a"});
  CHECK(text.code == 0);
  CHECK(text.err.empty());
  CHECK_THAT(text.out, contains("extern \"C\" __global__"));
  const Json json = Json::parse(program.run({"emit", kSmall, "--arch", "sm_90a", "--json"}).out);
  CHECK(json.at("source") == text.out);
  CHECK_THAT(text.out, contains(json.at("entry").get<std::string>()));
}

TEST_CASE("a malformed variable exits with 2 and is named; doctor calls it broken") {
  const Program program;
  const std::map<std::string, std::string> environment{{"KILN_ALLOW_MULTI_STAGES", "perhaps"}};
  const Ran ran = program.run({"explain", kSmall, "--arch", "sm_90a"}, environment);
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, contains("KILN_ALLOW_MULTI_STAGES"));
  const Ran doctor = program.run({"doctor", "--json"}, environment);
  CHECK(doctor.code == 1);
  CHECK(Json::parse(doctor.out).at("usable") == false);
}

TEST_CASE("doctor looks at everything and advises on whatever is not good") {
  const Program program;
  const Ran ran = program.run({"doctor", "--json"});
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  std::map<std::string, std::string> health;
  const Json document = Json::parse(ran.out);
  for (const Json& finding : document.at("findings")) {
    CAPTURE(finding.dump());
    health[finding.at("subject")] = finding.at("health");
    CHECK((finding.at("health") == "good" || !finding.at("advice").get<std::string>().empty()));
  }
  for (const std::string subject :
       {"kiln", "environment", "driver", "NVRTC", "cache folder", "composed kernels"}) {
    CHECK(health.count(subject) == 1);
  }
  CHECK_FALSE(program.run({"doctor"}).out.empty());
}

TEST_CASE("doctor names what is broken: NVRTC that is none, a cache folder that is a file") {
  const Program program;
  const std::string file = program.write("file", "no library");
  const Ran nvrtc = program.run({"doctor", "--json"}, {{"KILN_NVRTC", file}});
  CHECK(nvrtc.code == 1);
  CHECK_THAT(nvrtc.out, contains("KILN_NVRTC"));
  const Ran cache = program.run({"doctor"}, {{"KILN_CACHE_DIR", file}});
  CHECK(cache.code == 1);
  CHECK_THAT(cache.out, contains("not a folder"));
}

TEST_CASE("stdout that cannot be written is an error") {
  const Program program;
  // /dev/full accepts nothing.
  const std::string script =
      program.write("full.sh", std::string("exec '") + KILN_PROGRAM + "' --help >/dev/full\n");
  CHECK(std::system(("sh " + script + " 2>/dev/null").c_str()) != 0);
}

}  // namespace
