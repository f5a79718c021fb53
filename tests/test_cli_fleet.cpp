// The command line for fleets: recipes with lists, dry runs, limits of workers, packs, and the
// answer to "why did I miss?".
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/cli_program.hpp"
#include "tests/testing.hpp"

namespace {

namespace fs = std::filesystem;
using kiln::testing::contains;
using kiln::testing::Program;
using kiln::testing::Ran;
using Json = nlohmann::json;

const std::string kFirst = "rms_norm_backward:n=64,x=f32,w=none";
const std::string kOther = "rms_norm_backward:n=32,x=f32,w=none";
const std::string kRecipe = "rms_norm_backward:n={32,64},x=f32,w=none\n";

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST_CASE("a warm is told line by line, and a dry run before and after it compiles nothing") {
  const Program program;
  const std::string recipe = program.write("r.txt", kRecipe);
  const std::vector<std::string> dry{
      "warm", "--recipe", recipe, "--arch", "sm_90a", "--dry-run", "--json"};
  CHECK(Json::parse(program.run(dry).out).at("summary").at("missing") == 2);
  CHECK(program.entries().empty());

  const Ran ran = program.run({"warm", "--recipe", recipe, "--arch", "sm_90a", "--json-lines"});
  CHECK(ran.code == 0);
  std::istringstream lines(ran.out);
  std::vector<Json> events;
  for (std::string line; std::getline(lines, line);) events.push_back(Json::parse(line));
  REQUIRE(events.size() == 3);
  CHECK(events[0].at("event") == "kernel");
  CHECK(events[0].at("result") == "compiled");
  CHECK(events[1].at("done") == 2);
  CHECK(events[1].at("total") == 2);
  CHECK(events[1].at("seconds_left") == 0);
  CHECK(events[2].at("event") == "summary");
  CHECK(events[2].at("compiled") == 2);

  const Json after = Json::parse(program.run(dry).out);
  CHECK(after.at("summary").at("cached") == 2);
  const Ran doctor = program.run({"doctor", "--recipe", recipe, "--arch", "sm_90a", "--json"});
  CHECK_THAT(doctor.out, contains("2 of 2 kernels are cached"));
  CHECK_THAT(doctor.out, contains("file system"));
}

TEST_CASE("a signature of the command line may have lists and ranges, as a recipe's line") {
  const Program program;
  const auto warm = [&](const std::string& signature) {
    return program.run(
        {"warm", "--signature", signature, "--arch", "sm_90a", "--dry-run", "--json"});
  };
  const auto missing = [](const Ran& ran) {
    return Json::parse(ran.out).at("summary").at("missing").get<int>();
  };
  CHECK(missing(warm("rms_norm_backward:n={32..128..*2},w={bf16,none}")) == 6);
  CHECK(missing(warm("rms_norm_backward:n=32")) == 1);
  CHECK(warm("{32,64}").code == 2);
  const Ran bad = warm("rms_norm_backward:n={32,x},w=none");
  CHECK(bad.code == 1);
  CHECK_THAT(bad.out + bad.err, contains("--signature"));
  CHECK_THAT(bad.out + bad.err, contains("not an integer"));
}

TEST_CASE(
    "a pack holds exactly the recipe's kernels, whichever layer has them, and two are equal") {
  const Program program;
  const std::string recipe = program.write("r.txt", kRecipe);
  const std::string layer = program.folder() + "/layer";
  // One in a layer, one in the folder, and one that nobody asks for.
  REQUIRE(
      program.run({"warm", "--signature", kFirst, "--arch", "sm_90a"}, {{"KILN_CACHE_DIR", layer}})
          .code == 0);
  REQUIRE(program.run({"warm", "--signature", kFirst, "--arch", "sm_80"}).code == 0);
  const std::map<std::string, std::string> layered{{"KILN_CACHE_LAYERS", layer}};
  const std::string first = program.folder() + "/first.kpack";
  const std::string second = program.folder() + "/second.kpack";
  REQUIRE(program.run({"warm", "--recipe", recipe, "--arch", "sm_90a", "--pack", first}, layered)
              .code == 0);
  REQUIRE(program.run({"pack", second, "--recipe", recipe, "--arch", "sm_90a"}, layered).code == 0);
  CHECK(bytes_of(first) == bytes_of(second));
  CHECK_FALSE(bytes_of(first).empty());

  // The pack alone serves, with compiling off.
  const std::map<std::string, std::string> baked{{"KILN_CACHE_DIR", program.folder() + "/empty"},
                                                 {"KILN_CACHE_LAYERS", first},
                                                 {"KILN_DISABLE_JIT", "1"}};
  const Ran hits = program.run({"warm", "--recipe", recipe, "--arch", "sm_90a", "--json"}, baked);
  CHECK(Json::parse(hits.out).at("summary").at("hits") == 2);
  const Json listed = Json::parse(program.run({"list", "--json"}, baked).out);
  CHECK(listed.at("entries").size() == 2);

  // Unpacked into a folder of its own.
  const std::map<std::string, std::string> fresh{{"KILN_CACHE_DIR", program.folder() + "/fresh"}};
  const Ran unpacked = program.run({"unpack", first}, fresh);
  CHECK(unpacked.code == 0);
  CHECK_THAT(unpacked.out, contains("2 kernels stored"));
  CHECK(program.run({"verify"}, fresh).code == 0);
}

TEST_CASE(
    "a pack that lacks a kernel of the recipe is written, said to be incomplete, and exits 1") {
  const Program program;
  const std::string recipe = program.write("r.txt", kRecipe);
  REQUIRE(program.run({"warm", "--signature", kFirst, "--arch", "sm_90a"}).code == 0);
  const std::string pack = program.folder() + "/part.kpack";
  const Ran ran = program.run({"pack", pack, "--recipe", recipe, "--arch", "sm_90a"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, contains("n=32"));
  CHECK(fs::exists(pack));
}

TEST_CASE("only a pack signed by a trusted key is unpacked where a signature is required") {
  const Program program;
  REQUIRE(program.run({"warm", "--signature", kFirst, "--arch", "sm_90a"}).code == 0);
  const std::string pack = program.folder() + "/p.kpack";
  const std::string key = program.folder() + "/release.key";
  const std::map<std::string, std::string> elsewhere{
      {"KILN_CACHE_DIR", program.folder() + "/other"},
      {"KILN_TRUSTED_KEYS", program.folder() + "/keys"}};
  REQUIRE(program.run({"pack", pack}).code == 0);
  CHECK(program.run({"unpack", pack, "--require-signature"}, elsewhere).code == 1);
  REQUIRE(program.run({"keygen", key}).code == 0);
  CHECK(program.run({"keygen", key}).code == 1);  // replaces nothing
  REQUIRE(program.run({"sign", pack, "--key", key}).code == 0);
  CHECK(program.run({"unpack", pack, "--require-signature"}, elsewhere).code == 1);
  REQUIRE(program.run({"trust", key + ".pub"}, elsewhere).code == 0);
  CHECK(program.run({"unpack", pack, "--require-signature"}, elsewhere).code == 0);
  CHECK(program.run({"trust", key + ".pub"}).code == 2);  // KILN_TRUSTED_KEYS is not set
}

TEST_CASE(
    "why says where a kernel was looked for, what is there instead, and what two keys differ in") {
  const Program program;
  REQUIRE(program.run({"warm", "--signature", kFirst, "--arch", "sm_90a"}).code == 0);
  CHECK(program.run({"why", kFirst, "--arch", "sm_90a"}).code == 0);
  const Ran miss = program.run({"why", kOther, "--arch", "sm_90a"});
  CHECK(miss.code == 1);
  CHECK_THAT(miss.out, contains("missing"));
  CHECK_THAT(miss.out, contains(program.cache()));
  CHECK_THAT(miss.out, contains("instead"));
  CHECK_THAT(miss.out, contains("source, line"));
  const Ran pair = program.run({"why", kFirst, kOther, "--arch", "sm_90a"});
  CHECK(pair.code == 0);
  CHECK_THAT(pair.out, contains("source, line"));
  CHECK_THAT(program.run({"why", kFirst, kFirst, "--arch", "sm_90a"}).out, contains("equal"));

  const Json list = Json::parse(program.run({"list", "--json"}).out);
  const std::string digest = list.at("entries")[0].at("digest");
  CHECK_THAT(program.run({"show", digest.substr(0, 8)}).out, contains("arch       sm_90a"));
  const Json shown = Json::parse(program.run({"show", kFirst, "--arch", "sm_90a", "--json"}).out);
  CHECK(shown.at("digest") == digest);
  CHECK(program.run({"show", "0000"}).code == 1);
}

TEST_CASE("a bad kernel is set aside by verify --repair, and clear removes what kiln made") {
  const Program program;
  REQUIRE(program.run({"warm", "--signature", kFirst, "--arch", "sm_90a"}).code == 0);
  const std::string entry = program.entries().at(0);
  fs::resize_file(entry, fs::file_size(entry) - 1);
  CHECK(program.run({"verify"}).code == 1);
  CHECK(program.run({"verify", "--repair"}).code == 0);
  CHECK(program.run({"verify"}).code == 0);
  CHECK(program.entries().empty());
  REQUIRE(program.run({"warm", "--signature", kFirst, "--arch", "sm_90a"}).code == 0);
  (void)program.write("cache/mine", "not kiln's");
  CHECK(program.run({"clear"}).code == 2);
  CHECK(program.entries().size() == 1);
  CHECK(program.run({"clear", "--yes"}).code == 0);
  CHECK(program.entries().empty());
  CHECK(fs::exists(program.cache() + "/mine"));
}

TEST_CASE("stats count what processes did, and start anew when told to") {
  const Program program;
  REQUIRE(program.run({"warm", "--signature", kFirst, "--arch", "sm_90a"}).code == 0);
  REQUIRE(program.run({"warm", "--signature", kFirst, "--arch", "sm_90a"}).code == 0);
  const auto hits = [&](const std::vector<std::string>& arguments) {
    return Json::parse(program.run(arguments).out).at("counts").at("hit").get<int>();
  };
  CHECK(hits({"stats", "--json", "--zero"}) == 1);
  CHECK(hits({"stats", "--json"}) == 0);
  CHECK(program.run({"gc", "--dry-run"}).code == 0);
}

TEST_CASE("a worker that hangs fails its kernel alone, after the time limit") {
  const Program program;
  const std::string recipe =
      program.write("r.txt", "rms_norm_backward:n={8..64..8},x=f32,w=none\n");
  const pid_t pid = program.start({"warm",
                                   "--recipe",
                                   recipe,
                                   "--arch",
                                   "sm_90a",
                                   "--jobs",
                                   "1",
                                   "--time-limit",
                                   "15",
                                   "--json"});
  std::vector<pid_t> workers;
  REQUIRE(eventually([&] { return !(workers = kiln::testing::children_of(pid)).empty(); }));
  // Before its exec the child shares the parent's memory, which waits for it.
  const std::string command = "/proc/" + std::to_string(workers.front()) + "/cmdline";
  const std::string name("\0worker\0", 8);
  REQUIRE(eventually([&] { return bytes_of(command).find(name) != std::string::npos; }));
  kill(workers.front(), SIGSTOP);
  const Ran ran = program.finish(pid);
  CHECK(ran.code == 1);
  const Json summary = Json::parse(ran.out).at("summary");
  CHECK(summary.at("failed") == 1);
  CHECK(summary.at("compiled") == 7);
  CHECK_THAT(ran.err, contains("took longer than 15 s"));
}

TEST_CASE("a worker without enough memory fails its kernel, and warm goes on") {
  const Program program;
  const Ran ran = program.run(
      {"warm", "--signature", kFirst, "--arch", "sm_90a", "--memory-limit", "120", "--json"});
  CHECK(ran.code == 1);
  CHECK(Json::parse(ran.out).at("summary").at("failed") == 1);
  CHECK(program.run({"verify"}).code == 0);
}

}  // namespace
