// The command line and the cache: warming, hits, recipes with faults, interruption, damage, folders
// of others.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/cli_program.hpp"
#include "tests/testing.hpp"

namespace {

using kiln::testing::contains;
using kiln::testing::Program;
using kiln::testing::Ran;
using Json = nlohmann::json;

const std::string kFirst = "rms_norm_backward:n=64,x=f32,w=none";
const std::string kSecond = "rms_norm_backward:n=32,x=f32,w=none";

Json summary(const Ran& ran) { return Json::parse(ran.out).at("summary"); }

// Waits up to 30 s.
template <class Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_CASE("what is warmed once is a hit in the next process, and NVRTC is not loaded for it") {
  const Program program;
  const std::vector<std::string> request{"warm",
                                         "--signature",
                                         kFirst,
                                         "--signature",
                                         kSecond,
                                         "--arch",
                                         "sm_80,sm_90a",
                                         "--jobs",
                                         "2",
                                         "--json"};
  const Ran cold = program.run(request);
  CHECK(cold.code == 0);
  CHECK(cold.err.empty());
  CHECK(summary(cold).at("compiled") == 4);
  CHECK(program.entries().size() == 4);
  const Ran warm = program.run(request);
  CHECK(warm.code == 0);
  CHECK(summary(warm).at("hits") == 4);
  CHECK(summary(warm).at("nvrtc_loaded") == false);
  // In this process as well as in workers.
  const Ran alone =
      program.run({"warm", "--signature", kFirst, "--arch", "sm_90a", "--jobs", "1", "--json"});
  CHECK(summary(alone).at("hits") == 1);
  CHECK(Json::parse(alone.out).at("kernels")[0].at("plan").at("stages")[0].at("origin") == "cache");

  const Json list = Json::parse(program.run({"list", "--json"}).out);
  CHECK(list.at("entries").size() == 4);
  CHECK(Json::parse(program.run({"verify", "--json"}).out).at("checked") == 4);
}

TEST_CASE("the table names every kernel, and colour stays out of files") {
  const Program program;
  const Ran ran = program.run({"warm", "--signature", kFirst, "--arch", "sm_90a"});
  CHECK(ran.code == 0);
  for (const std::string word : {"signature",
                                 "route",
                                 "stages",
                                 "tile",
                                 "shared memory",
                                 "registers",
                                 "compile ms",
                                 "digest",
                                 "compiled",
                                 "sm_90a",
                                 "1 kernels requested"}) {
    CHECK_THAT(ran.out, contains(word));
  }
  CHECK_THAT(ran.out, !contains("\x1b"));
  CHECK(ran.err.empty());
  CHECK_THAT(program.run({"warm", "--signature", kFirst, "--arch", "sm_90a", "--summary"}).out,
             !contains("tile"));
}

TEST_CASE("two spellings of one signature are compiled once") {
  const Program program;
  const Ran ran = program.run({"warm",
                               "--signature",
                               kFirst,
                               "--signature",
                               "rms_norm_backward:w=none,x=f32,accumulate=0,n=64",
                               "--arch",
                               "sm_90a,9.0",
                               "--json"});
  CHECK(summary(ran).at("requests") == 1);
}

TEST_CASE("a bad line among good ones is named, the good ones are done, and the exit code is 1") {
  const Program program;
  const std::string recipe =
      program.write("recipe.txt", kFirst + "\nrms_norm_backward:n=64,x=f99\n" + kSecond + "\n");
  const Ran ran = program.run({"warm", "--recipe", recipe, "--arch", "sm_90a", "--json"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, contains("recipe.txt, line 2"));
  CHECK_THAT(ran.err, contains("f99"));
  CHECK(summary(ran).at("compiled") == 2);
  CHECK(Json::parse(ran.out).at("problems")[0].at("line") == 2);
  CHECK(program.entries().size() == 2);
}

TEST_CASE("a recipe that cannot be used exits with 1 and is named") {
  const Program program;
  const std::vector<std::string> recipes{
      program.write("text.json", "not json\n"),
      program.write("empty.json", ""),
      program.write("version.json", "{\"version\": 9, \"entries\": []}"),
      program.folder(),
      program.folder() + "/absent.json"};
  for (const std::string& recipe : recipes) {
    CAPTURE(recipe);
    const Ran ran = program.run({"warm", "--recipe", recipe, "--arch", "sm_90a", "--json"});
    CHECK(ran.code == 1);
    CHECK_THAT(ran.err, contains(recipe));
    CHECK(Json::parse(ran.out).at("error").at("code") == "invalid_recipe");
  }
}

TEST_CASE("a damaged kernel is reported by verify, and compiled anew by warm") {
  const Program program;
  const std::vector<std::string> warm{"warm", "--signature", kFirst, "--arch", "sm_90a", "--json"};
  REQUIRE(program.run(warm).code == 0);
  REQUIRE(program.entries().size() == 1);
  const std::string entry = program.entries().front();
  {
    std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(0, std::ios::end);
    const auto middle = static_cast<std::streamoff>(file.tellg()) / 2;
    file.seekg(middle);
    const int byte = file.get();
    file.seekp(middle);
    file.put(static_cast<char>(byte ^ 1));
  }
  const Ran bad = program.run({"verify", "--json"});
  CHECK(bad.code == 1);
  CHECK(Json::parse(bad.out).at("problems").size() == 1);
  CHECK(program.run({"verify"}).code == 1);
  const Ran again = program.run(warm);
  CHECK(again.code == 0);
  CHECK(summary(again).at("compiled") == 1);
  CHECK(program.run({"verify"}).code == 0);
}

TEST_CASE("a cache folder that cannot be written is said once and costs nothing else") {
  const Program program;
  const std::string folder = program.folder() + "/of-root";
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
  const Ran ran = program.run_as_nobody({"warm",
                                         "--signature",
                                         kFirst,
                                         "--signature",
                                         kSecond,
                                         "--arch",
                                         "sm_90a",
                                         "--jobs",
                                         "2",
                                         "--json"},
                                        {{"KILN_CACHE_DIR", folder}});
  CHECK(ran.code == 0);
  CHECK(summary(ran).at("compiled") == 2);
  CHECK(Json::parse(ran.out).at("warnings").size() == 1);
  CHECK_THAT(ran.err, contains(folder));
  CHECK(program.run_as_nobody({"doctor"}, {{"KILN_CACHE_DIR", folder}}).code == 1);
}

TEST_CASE("with JIT off and nothing cached the composed kernels serve, with the reason") {
  const Program program;
  const Ran ran = program.run({"warm", "--signature", kFirst, "--arch", "sm_90a", "--json"},
                              {{"KILN_DISABLE_JIT", "1"}});
  CHECK(ran.code == 0);
  CHECK(summary(ran).at("embedded") == 1);
  CHECK(summary(ran).at("nvrtc_loaded") == false);
  CHECK(Json::parse(ran.out).at("kernels")[0].at("plan").at("reason").at("id") == "jit_disabled");
}

std::vector<std::string> many(const Program& program) {
  std::string recipe;
  for (int n = 1; n <= 12; ++n)
    recipe += "rms_norm_backward:n=" + std::to_string(8 * n) + ",x=f32,w=none\n";
  return {"warm",
          "--recipe",
          program.write("many.txt", recipe),
          "--arch",
          "sm_90a",
          "--jobs",
          "2",
          "--json"};
}

TEST_CASE("an interrupted warm keeps what it did and goes on where it stopped") {
  const Program program;
  const std::vector<std::string> request = many(program);
  const pid_t pid = program.start(request);
  REQUIRE(eventually([&] { return !program.entries().empty(); }));
  kill(pid, SIGINT);
  const Ran cut = program.finish(pid);
  // Fast machines may be done before the signal arrives.
  if (cut.code != 0) {
    CHECK(cut.code == -SIGINT);
    CHECK_THAT(cut.err, contains("interrupted"));
  }
  const std::size_t kept = program.entries().size();
  const Ran rest = program.run(request);
  CHECK(rest.code == 0);
  CHECK(summary(rest).at("hits").get<std::size_t>() == kept);
  CHECK(summary(rest).at("compiled").get<std::size_t>() == 12 - kept);
  CHECK(program.run({"verify"}).code == 0);
}

TEST_CASE("a worker that is killed fails its kernel alone") {
  const Program program;
  const pid_t pid = program.start(many(program));
  std::vector<pid_t> workers;
  REQUIRE(eventually([&] { return !(workers = kiln::testing::children_of(pid)).empty(); }));
  kill(workers.front(), SIGKILL);
  const Ran ran = program.finish(pid);
  CHECK(ran.code == 1);
  CHECK(summary(ran).at("failed") == 1);
  CHECK(summary(ran).at("compiled") == 11);
  CHECK_THAT(ran.err, contains("killed by signal 9"));
}

}  // namespace
