// Read-only, full and impossible caches: nothing throws, and each cause is told once.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <csignal>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "cache/store.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using kiln::testing::contains;
using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

constexpr int kCannotTest = 77;

bool fill(const fs::path& root, int count) {
  Store store(options_at(root));
  for (int i = 0; i < count; ++i) {
    if (store.put(make_test_key(std::to_string(i)), make_test_cubin(500), "op", "s") !=
        PutResult::stored)
      return false;
  }
  return true;
}

// 0 when puts are refused with one warning that has the piece, and what is there is still found.
int refuses_but_serves(const fs::path& root, const std::string& piece, int present) {
  Recorder log;
  Store store(options_at(root, log));
  for (int i = 0; i < 3; ++i) {
    if (store.put(make_test_key("new" + std::to_string(i)), make_test_cubin(500), "op", "s") !=
        PutResult::not_kept) {
      return 1;
    }
  }
  if (log.warnings().size() != 1) return 2;
  if (log.text().find(piece) == std::string::npos) return 3;
  for (int i = 0; i < present; ++i) {
    if (!store.find(make_test_key(std::to_string(i)))) return 4;
  }
  return store.counters().not_kept == 3 ? 0 : 5;
}

TEST_CASE("a cache folder that may not be written is served from, and told about once", "[cache]") {
  const TemporaryFolder folder;
  give_to(kNobody, folder.path());
  const fs::path root = folder / "root";
  REQUIRE(as_nobody([&] { return fill(root, 2) ? 0 : 1; }) == 0);
  CHECK(as_nobody([&] {
          for (const char* name : {"", "v1", "v1/e", "v1/tmp"})
            fs::permissions(root / name, fs::perms(0500));
          std::optional<Found> found;
          Store store(options_at(root));
          const auto budget = std::chrono::seconds(60);
          // Nothing can be published, so that nobody waits for a lock.
          if (store.lock(make_test_key("new"), budget, found).held()) return 20;
          return refuses_but_serves(root, "Permission denied", 2);
        }) == 0);
}

TEST_CASE("a damaged entry in a cache folder that may not be written is a miss, told once",
          "[cache]") {
  const TemporaryFolder folder;
  give_to(kNobody, folder.path());
  const fs::path root = folder / "root";
  REQUIRE(as_nobody([&] { return fill(root, 1) ? 0 : 1; }) == 0);
  CHECK(as_nobody([&] {
          const fs::path file = entry_file(root, make_test_key("0"));
          write_file(file, "damaged");
          fs::permissions(root / "v1", fs::perms(0500));
          Recorder log;
          Store store(options_at(root, log));
          if (store.find(make_test_key("0")) || store.find(make_test_key("0"))) return 1;
          if (store.counters().bad != 2 || store.counters().quarantined != 0) return 2;
          return log.warnings().size() == 1 ? 0 : 3;
        }) == 0);
}

TEST_CASE("a cache folder that cannot be made, or is a file, is told about once", "[cache]") {
  const TemporaryFolder folder;
  write_file(folder / "file", "x");
  CHECK(refuses_but_serves(folder / "file/root", "Not a directory", 0) == 0);
  CHECK(refuses_but_serves(folder / "file", "Not a directory", 0) == 0);
  CHECK(refuses_but_serves("/proc/kiln-cache", "No such file", 0) == 0);
  fs::create_directories(folder / "root");
  write_file(folder / "root/v1", "x");
  CHECK(refuses_but_serves(folder / "root", "Not a directory", 0) == 0);
}

TEST_CASE("a tmp that is a file or a link leaves puts refused and follows nothing", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  REQUIRE(fill(root, 2));
  fs::remove_all(root / "v1/tmp");
  write_file(root / "v1/tmp", "x");
  CHECK(refuses_but_serves(root, "v1/tmp", 2) == 0);
  fs::remove(root / "v1/tmp");
  fs::create_directory(folder / "elsewhere");
  fs::create_directory_symlink(folder / "elsewhere", root / "v1/tmp");
  CHECK(refuses_but_serves(root, "v1/tmp", 2) == 0);
  CHECK(count_in(folder / "elsewhere") == 0);
}

TEST_CASE("a limit on file sizes refuses puts and ends no process", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  REQUIRE(fill(root, 2));
  for (const bool ignore_signal : {true, false}) {
    CHECK(in_child([&] {
            if (ignore_signal) (void)std::signal(SIGXFSZ, SIG_IGN);
            const struct rlimit limit { 100, 100 };
            if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return kCannotTest;
            return refuses_but_serves(root, "File too large", 2);
          }) == 0);
  }
  CHECK(count_in(root / "v1/tmp") == 0);
}

// A small file system of its own, in a mount namespace of its own, gone with the child.
int on_small_tmpfs(const fs::path& folder, const char* size, const std::string& piece) {
  if (::unshare(CLONE_NEWNS) != 0) return kCannotTest;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kCannotTest;
  if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, size) != 0) return kCannotTest;
  fs::permissions(folder, fs::perms(0700));
  const fs::path root = folder / "root";
  Recorder log;
  Store store(options_at(root, log));
  int stored = 0;
  for (; stored < 10000; ++stored) {
    const Key key = make_test_key(std::to_string(stored));
    if (store.put(key, make_test_cubin(8000), "op", "s") != PutResult::stored) break;
  }
  if (stored == 0 || stored == 10000) return 1;
  for (int i = 0; i < 3; ++i) {
    if (store.put(make_test_key("x"), make_test_cubin(8000), "op", "s") != PutResult::not_kept)
      return 2;
  }
  if (log.text().find(piece) == std::string::npos) return 3;
  if (log.warnings().size() != 1) return 4;
  for (int i = 0; i < stored; ++i) {
    if (!store.find(make_test_key(std::to_string(i)))) return 5;
  }
  if (count_in(root / "v1/tmp") != 0) return 6;
  std::int64_t checked = 0;
  return store.verify(checked).empty() && checked == stored ? 0 : 7;
}

TEST_CASE("a full disk, of bytes or of inodes, refuses puts and serves what is there", "[cache]") {
  const TemporaryFolder folder;
  for (const char* size : {"size=256k,mode=0700", "size=64m,nr_inodes=60,mode=0700"}) {
    const int code = in_child([&] { return on_small_tmpfs(folder.path(), size, "No space left"); });
    if (code == kCannotTest) {
      WARN("no permission to mount a small file system: the limit on file sizes stands in for it");
      continue;
    }
    INFO(size);
    CHECK(code == 0);
  }
}

TEST_CASE("old temporaries are swept, young and future ones stay", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  REQUIRE(fill(root, 1));
  const auto plant = [&](const char* name, std::chrono::hours age) {
    write_file(root / "v1/tmp" / name, "x");
    fs::last_write_time(root / "v1/tmp" / name, fs::file_time_type::clock::now() - age);
  };
  plant("old", std::chrono::hours(2));
  plant("young", std::chrono::hours(0));
  plant("future", std::chrono::hours(-48));
  Store store(options_at(root));
  store.put(make_test_key("new"), make_test_cubin(10), "op", "s");
  CHECK_FALSE(fs::exists(root / "v1/tmp/old"));
  CHECK(fs::exists(root / "v1/tmp/young"));
  CHECK(fs::exists(root / "v1/tmp/future"));
  CHECK(count_in(root / "v1/tmp") == 2);
}

TEST_CASE("a new root is tagged as a cache and a folder with other things in it is not",
          "[cache]") {
  const TemporaryFolder folder;
  REQUIRE(fill(folder / "root", 1));
  CHECK_THAT(read_file(folder / "root/CACHEDIR.TAG"),
             contains("Signature: 8a477f597d28d172789f06886806bc55\n"));
  fs::create_directory(folder / "home");
  write_file(folder / "home/letter", "x");
  REQUIRE(fill(folder / "home", 1));
  CHECK_FALSE(fs::exists(folder / "home/CACHEDIR.TAG"));
  CHECK(fs::exists(folder / "home/v1/CACHEDIR.TAG"));
}

}  // namespace
}  // namespace kiln::cache
