// Finding and identifying NVRTC by its files, in layouts made by hand.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <kiln/error.hpp>
#include <kiln/policy.hpp>

#include "src/core/digest.hpp"
#include "src/cuda/toolchain.hpp"
#include "tests/cuda_fixtures.hpp"
#include "tests/testing.hpp"

namespace fs = std::filesystem;

namespace kiln {
namespace {

using testing::contains;
using testing::elf_library;
using testing::TempFolder;

// An NVRTC of that version in a folder, named as NVIDIA's wheel names it.
std::string add_nvrtc(const TempFolder& folder, const std::string& below, int major, int minor) {
  const std::string number = std::to_string(major) + "." + std::to_string(minor);
  (void)folder.write(below + "/libnvrtc-builtins.so." + number, elf_library("b" + number));
  return folder.write(below + "/libnvrtc.so." + std::to_string(major), elf_library("n" + number));
}

ToolchainSearch search_in(const std::string& path, std::optional<int> driver_major = std::nullopt) {
  return find_toolchain_in({{"KILN_NVRTC", path}}, driver_major);
}

std::string refusal(const std::string& path) {
  const ToolchainSearch search = search_in(path);
  CHECK_FALSE(search.found);
  std::string all;
  for (const std::string& line : search.tried) all += line + "\n";
  return all;
}

TEST_CASE("a wheel's NVRTC is identified by its builtins' version and the build-ids of both files",
          "[toolchain]") {
  const TempFolder folder;
  const std::string nvrtc = add_nvrtc(folder, "site-packages/nvidia/cu13/lib", 13, 0);
  for (const std::string& place : {nvrtc,
                                   fs::path(nvrtc).parent_path().string(),
                                   (folder.path() / "site-packages").string()}) {
    INFO(place);
    const ToolchainSearch search = search_in(place);
    REQUIRE(search.found);
    CHECK(search.found->id == Toolchain{13, 0, "6e31332e30", "6231332e30"});
    CHECK(search.found->nvrtc_path == nvrtc);
    CHECK_THAT(search.found->builtins_path, contains("libnvrtc-builtins.so.13.0"));
  }
}

TEST_CASE("a toolkit's links are resolved and its file name tells the version", "[toolchain]") {
  const TempFolder folder;
  (void)folder.write("targets/x86_64-linux/lib/libnvrtc.so.12.9.86", elf_library("n"));
  (void)folder.write("targets/x86_64-linux/lib/libnvrtc-builtins.so.12.9.86", elf_library("b"));
  (void)folder.write("targets/x86_64-linux/lib/libnvrtc-builtins.so.12.8.93", elf_library("other"));
  const fs::path lib = folder.path() / "targets/x86_64-linux/lib";
  fs::create_symlink("libnvrtc.so.12.9.86", lib / "libnvrtc.so.12");
  fs::create_symlink("libnvrtc.so.12", lib / "libnvrtc.so");
  fs::create_symlink("libnvrtc-builtins.so.12.9.86", lib / "libnvrtc-builtins.so.12.9");
  fs::create_directory_symlink("targets/x86_64-linux/lib", folder.path() / "lib64");
  for (const fs::path& place : {folder.path(), lib / "libnvrtc.so"}) {
    const ToolchainSearch search = search_in(place.string());
    REQUIRE(search.found);
    CHECK(search.found->id == Toolchain{12, 9, "6e", "62"});
    CHECK(search.found->nvrtc_path == (lib / "libnvrtc.so.12.9.86").string());
    CHECK(search.found->builtins_path == (lib / "libnvrtc-builtins.so.12.9.86").string());
  }
}

TEST_CASE("a file without a build-id is identified by its SHA-256", "[toolchain]") {
  const TempFolder folder;
  const std::string bytes = elf_library("", "NVRTC");
  (void)folder.write("libnvrtc.so.13", bytes);
  (void)folder.write("libnvrtc-builtins.so.13.1", elf_library("b"));
  const ToolchainSearch search = search_in(folder.path().string());
  REQUIRE(search.found);
  CHECK(search.found->id.nvrtc_id == "sha256:" + hex(sha256(std::string_view(bytes))));
  CHECK(search.found->id.builtins_id == "62");
}

TEST_CASE("the newest NVRTC of a folder is taken, and NVIDIA's variant builds are not",
          "[toolchain]") {
  const TempFolder folder;
  (void)add_nvrtc(folder, "lib", 12, 9);
  const std::string newest = add_nvrtc(folder, "lib", 13, 0);
  (void)folder.write("lib/libnvrtc.alt.so.13", elf_library("alt"));
  (void)folder.write("lib/libnvrtc-builtins.alt.so.13.0", elf_library("alt"));
  const ToolchainSearch search = search_in(folder.path().string());
  REQUIRE(search.found);
  CHECK(search.found->nvrtc_path == newest);
}

TEST_CASE("an NVRTC above the driver's major version is passed over for one it can run",
          "[toolchain]") {
  const TempFolder folder;
  (void)add_nvrtc(folder, "new", 13, 0);
  const std::string old = add_nvrtc(folder, "old", 12, 9);
  const std::vector<SearchPlace> places{{"CUDA_HOME", (folder.path() / "new").string()},
                                        {"toolkit folder", (folder.path() / "old").string()}};
  CHECK(find_toolchain_in(places, std::nullopt).found->id.major == 13);
  CHECK(find_toolchain_in(places, 13).found->found_by == "CUDA_HOME");
  const ToolchainSearch search = find_toolchain_in(places, 12);
  REQUIRE(search.found);
  CHECK(search.found->nvrtc_path == old);
  CHECK(search.found->found_by == "toolkit folder");
  REQUIRE(search.tried.size() == 1);
  CHECK_THAT(search.tried.front(),
             contains("is version 13.0; this driver runs code of CUDA 12 at most"));
}

TEST_CASE("every unusable NVRTC is refused with its reason", "[toolchain]") {
  const TempFolder folder;
  const fs::path root = folder.path();
  SECTION("too old") {
    (void)add_nvrtc(folder, "a", 12, 4);
    CHECK_THAT(refusal((root / "a").string()),
               contains("is version 12.4; kiln needs 12.9 or newer"));
  }
  SECTION("builtins missing") {
    const std::string path = folder.write("libnvrtc.so.13", elf_library("n"));
    CHECK_THAT(refusal(path), contains("libnvrtc-builtins.so.13.* is not beside it"));
  }
  SECTION("builtins of another version") {
    const std::string path = folder.write("libnvrtc.so.13.1.80", elf_library("n"));
    (void)folder.write("libnvrtc-builtins.so.13.0", elf_library("b"));
    CHECK_THAT(refusal(path), contains("libnvrtc-builtins.so.13.1.80.* is not beside it"));
  }
  SECTION("several builtins") {
    const std::string path = add_nvrtc(folder, "a", 13, 0);
    (void)folder.write("a/libnvrtc-builtins.so.13.1", elf_library("b"));
    CHECK_THAT(refusal(path), contains("cannot tell which are its own"));
  }
  SECTION("a loop of links") {
    fs::create_symlink("libnvrtc.so.13", root / "libnvrtc.so");
    fs::create_symlink("libnvrtc.so", root / "libnvrtc.so.13");
    CHECK_THAT(refusal(root.string()), contains("oo many levels of symbolic links"));
    CHECK_THAT(refusal((root / "libnvrtc.so").string()),
               contains("oo many levels of symbolic links"));
  }
  SECTION("a broken link") {
    fs::create_symlink("nowhere", root / "libnvrtc.so.13");
    CHECK_THAT(refusal(root.string()), contains("libnvrtc.so.13: No such file"));
  }
  SECTION("folders in place of files") {
    fs::create_directory(root / "libnvrtc.so.13");
    CHECK_THAT(refusal(root.string()), contains("is a folder"));
    (void)folder.write("b/libnvrtc.so.13", elf_library("n"));
    fs::create_directory(root / "b/libnvrtc-builtins.so.13.0");
    CHECK_THAT(refusal((root / "b").string()), contains("is a folder"));
  }
  SECTION("truncated files") {
    const std::string path = add_nvrtc(folder, "a", 13, 0);
    fs::resize_file(path, fs::file_size(path) - 1);
    CHECK_THAT(refusal(path), contains("is truncated"));
    fs::resize_file(path, 10);
    CHECK_THAT(refusal(path), contains("is cut off"));
    fs::resize_file(path, 0);
    CHECK_THAT(refusal(path), contains("is not a 64-bit ELF file"));
    const std::string other = add_nvrtc(folder, "b", 13, 0);
    fs::resize_file(root / "b/libnvrtc-builtins.so.13.0", 100);
    CHECK_THAT(refusal(other), contains("its builtins"));
  }
  SECTION("a name that tells no version") {
    (void)add_nvrtc(folder, "a", 13, 0);
    CHECK_THAT(refusal(folder.write("a/nvrtc.bin", elf_library("n"))),
               contains("does not say its version"));
    CHECK_THAT(refusal(folder.write("b/libnvrtc.so.99999999999", elf_library("n"))),
               contains("does not say its version"));
  }
  SECTION("nothing there") {
    CHECK_THAT(refusal(root.string()), contains("no libnvrtc.so.* there"));
    CHECK_THAT(refusal((root / "absent").string()), contains("no such file or folder"));
    CHECK_THAT(refusal(folder.write("file", "") + "/below"), contains("ot a directory"));
    CHECK_THAT(refusal("/dev/null"), contains("does not say its version"));
  }
}

TEST_CASE("a file another user may not read is refused with that reason", "[toolchain]") {
  const TempFolder folder;
  const std::string path = add_nvrtc(folder, "a", 13, 0);
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(path, fs::perms::none);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Root reads anything; as another user the file is out of reach.
    if (::getuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    const ToolchainSearch search = search_in(path);
    const bool named = !search.found && search.tried.size() == 1 &&
                       search.tried.front().find("Permission denied") != std::string::npos;
    ::_exit(named ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("KILN_NVRTC is the only place searched when it is set", "[toolchain]") {
  Policy policy;
  policy.nvrtc = "/no/such/nvrtc";
  policy.cuda_home = "/usr/local/cuda";
  const std::vector<SearchPlace> places = search_places(policy, {"/wheel"});
  REQUIRE(places.size() == 1);
  CHECK(places.front().path == "/no/such/nvrtc");
  const ToolchainSearch search = find_toolchain(policy, {}, std::nullopt);
  CHECK_FALSE(search.found);
  const Error error = missing_toolchain(search);
  CHECK(error.code == ErrorCode::nvrtc_missing);
  CHECK_THAT(error.detail, contains("KILN_NVRTC: /no/such/nvrtc: no such file or folder"));
  CHECK_THAT(error.detail, contains("set KILN_NVRTC to the folder"));
}

TEST_CASE("the wheel comes before CUDA_HOME, and CUDA_HOME before the toolkit folders",
          "[toolchain]") {
  Policy policy;
  policy.cuda_home = "/my/cuda";
  const std::vector<SearchPlace> places = search_places(policy, {"/wheel/one", "/wheel/two"});
  REQUIRE(places.size() > 4);
  CHECK(places[0].path == "/wheel/one");
  CHECK(places[1].path == "/wheel/two");
  CHECK(places[1].found_by == "NVIDIA's wheel");
  CHECK(places[2].found_by == "CUDA_HOME");
  CHECK(places[3].path == "/usr/local/cuda");
}

TEST_CASE("finding a toolchain loads none of it", "[toolchain][nvrtc][.child]") {
  const ToolchainFiles files = testing::machine_toolchain();
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    CHECK(line.find("libnvrtc") == std::string::npos);
  }
  CHECK(files.id.major >= 12);
}

TEST_CASE("this machine's NVRTC is found without loading it", "[toolchain][nvrtc]") {
  // In a process of its own: other tests load it.
  const testing::ChildResult child =
      testing::run_hidden_test("finding a toolchain loads none of it", {});
  INFO(child.output);
  CHECK(child.status == 0);
}

}  // namespace
}  // namespace kiln
