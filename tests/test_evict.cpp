// Eviction: what goes, what stays, and that neither clocks nor full disks can make it wrong.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/clock.hpp"
#include "cache/evict.hpp"
#include "cache/lock.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using kiln::testing::contains;
using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kDay = 24 * kHour;

Key numbered(int i) { return make_test_key(std::to_string(i)); }

void put(Store& store, int first, int count, std::size_t bytes = 20000) {
  for (int i = first; i < first + count; ++i) {
    REQUIRE(store.put(numbered(i), make_test_cubin(bytes), "op", "s") == PutResult::stored);
  }
}

void set_age(const fs::path& file, std::int64_t seconds) {
  const std::time_t then = std::time(nullptr) - seconds;
  const std::array<timespec, 2> times = {{{0, 0}, {then, 0}}};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0) == 0);
}

std::int64_t age_of(const fs::path& file) {
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  return std::time(nullptr) - status.st_mtime;
}

TEST_CASE("over the bound the longest unused entries go, and only they", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  StoreOptions options = options_at(root);
  options.max_bytes = 0;
  Store store(options);
  put(store, 0, 40);
  for (int i = 0; i < 40; ++i) set_age(entry_file(root, numbered(i)), (i + 1) * kHour);
  const GcResult all = store.gc();
  CHECK(all.ran);
  CHECK(all.entries == 40);
  CHECK(all.removed == 0);
  const std::int64_t each = all.bytes / 40;

  const GcResult would = store.gc({.max_bytes = 20 * each, .dry_run = true});
  CHECK(would.removed == 22);
  CHECK(store.gc({.max_bytes = 40 * each}).removed == 0);
  const GcResult trimmed = store.gc({.max_bytes = 20 * each});
  CHECK(trimmed.removed == 22);  // to nine tenths of the bound
  CHECK(trimmed.removed_bytes == 22 * each);
  for (int i = 0; i < 40; ++i) CHECK(fs::exists(entry_file(root, numbered(i))) == (i < 18));
  CHECK(store.counters().evicted == 22);
  CHECK(store.gc({.max_bytes = 20 * each}).removed == 0);
}

// So many that threads share the removal.
TEST_CASE("of a large cache exactly so much goes as is too much, longest unused first", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  constexpr int kEntries = 12'000;
  Store store(options_at(root));
  put(store, 0, 1, 100);
  fs::remove(entry_file(root, numbered(0)));
  std::vector<fs::path> files;
  for (int i = 0; i < kEntries; ++i) {
    const std::string name = hex(sha256(std::to_string(i)));
    const fs::path file =
        root / "v1/e" / name.substr(0, 2) / (name.substr(2) + ".0123456789abcdef.k");
    fs::create_directories(file.parent_path());
    write_file(file, "x");
    // Three ages; of the middle one some go.
    set_age(file, (1 + i % 3) * kDay);
    files.push_back(file);
  }
  for (const char* part : {"", "v1", "v1/e"}) fs::permissions(root / part, fs::perms::owner_all);
  constexpr std::int64_t kBlock = 4096;
  const GcResult result = store.gc({.max_bytes = 0, .shed_bytes = (kEntries / 3 + 500) * kBlock});
  CHECK(result.entries == kEntries);
  CHECK(result.removed == kEntries / 3 + 500);
  CHECK(result.removed_bytes == (kEntries / 3 + 500) * kBlock);
  std::array<int, 3> left{};
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (fs::exists(files[i])) ++left[i % 3];
  }
  CHECK(left == std::array<int, 3>{kEntries / 3, kEntries / 3 - 500, 0});
  CHECK(store.gc({.max_age = std::chrono::hours(1)}).removed == kEntries - result.removed);
}

TEST_CASE("what was not used for longer than the age goes, whatever the bound", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  Store store(options_at(root));
  put(store, 0, 3);
  set_age(entry_file(root, numbered(1)), 89 * kDay);
  set_age(entry_file(root, numbered(2)), 91 * kDay);
  CHECK(store.gc().removed == 1);
  CHECK(store.find(numbered(1)));
  CHECK_FALSE(fs::exists(entry_file(root, numbered(2))));
  CHECK(store.gc({.max_age = std::chrono::seconds(0)}).removed == 0);
}

TEST_CASE("nothing used within ten minutes goes, and times in the future are now", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  Store store(options_at(root));
  put(store, 0, 4);
  set_age(entry_file(root, numbered(1)), 9 * 60);
  set_age(entry_file(root, numbered(2)), 11 * 60);
  set_age(entry_file(root, numbered(3)), -3 * kDay);
  const GcResult result = store.gc({.max_bytes = 1});
  CHECK(result.removed == 1);
  CHECK(result.young == 3);
  CHECK_FALSE(fs::exists(entry_file(root, numbered(2))));
  CHECK(age_of(entry_file(root, numbered(3))) < 60);  // from here on it ages
}

TEST_CASE("a hit stamps an entry at most hourly, and in a layer never", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const fs::path file = entry_file(root, numbered(0));
  Store store(options_at(root));
  put(store, 0, 1);
  StoreOptions layered = options_at(folder / "other");
  layered.layers = {root.string()};
  Store reader(layered);
  set_age(file, 2 * kHour);
  REQUIRE(reader.find(numbered(0)));
  CHECK(age_of(file) > kHour);
  set_age(file, 50 * 60);
  REQUIRE(store.find(numbered(0)));
  CHECK(age_of(file) > 40 * 60);
  for (const std::int64_t age : {2 * kHour, 3 * kDay}) {
    set_age(file, age);
    REQUIRE(store.find(numbered(0)));
    CHECK(age_of(file) < 60);
  }
  set_age(file, -3 * kDay);
  REQUIRE(store.find(numbered(0)));
  CHECK(store.find(numbered(0)));
}

TEST_CASE("puts keep a cache near its bound by themselves", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  StoreOptions options = options_at(root);
  options.max_bytes = 40 * 20480;
  Store store(options);
  for (int i = 0; i < 160; ++i) {
    put(store, i, 1);
    set_age(entry_file(root, numbered(i)), kHour);
  }
  CHECK(store.counters().puts == 160);
  CHECK(store.counters().gc_runs > 0);
  options.max_bytes = 0;
  CHECK(Store(options).gc().bytes < 2 * 40 * 20480);
}

TEST_CASE("one process evicts at a time, and nobody waits for it", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  Store store(options_at(root));
  put(store, 0, 1);
  const Descriptor version = open_folder_at(AT_FDCWD, (root / "v1").c_str());
  const Descriptor held = open_gc_lock(version.get());
  REQUIRE(try_lock(held.get(), 0) == LockAttempt::acquired);
  const GcResult result = store.gc();
  CHECK_FALSE(result.ran);
  CHECK_THAT(result.reason, contains("another process"));
  CHECK(store.put(numbered(1), make_test_cubin(100), "op", "s") == PutResult::stored);
}

TEST_CASE("eviction touches nothing that is no entry, and follows no link", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  Store store(options_at(root));
  put(store, 0, 1);
  const fs::path entry = entry_file(root, numbered(0));
  const fs::path stray = entry.parent_path() / "notes.txt";
  const fs::path outside = folder / "outside";
  fs::create_directories(outside);
  const fs::path target = outside / entry.filename();
  write_file(stray, "kept");
  write_file(target, "kept");
  const std::string other = entry.parent_path().filename() == "ab" ? "ac" : "ab";
  fs::create_directory_symlink(outside, root / "v1/e" / other);
  for (const fs::path& file : {entry, stray, target}) set_age(file, 365 * kDay);
  CHECK(store.gc({.max_bytes = 1}).removed == 1);
  CHECK(fs::exists(stray));
  CHECK(fs::exists(target));
}

TEST_CASE("a gc.lock that is a folder, a link or a FIFO stops eviction with a reason", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  Store store(options_at(root));
  put(store, 0, 1);
  const fs::path lock = root / "v1/gc.lock";
  fs::create_directory(lock);
  CHECK_THAT(store.gc().reason, contains("gc.lock"));
  fs::remove(lock);
  REQUIRE(::mkfifo(lock.c_str(), 0600) == 0);
  CHECK_FALSE(store.gc().ran);
  fs::remove(lock);
  fs::create_symlink(folder / "elsewhere", lock);
  CHECK_FALSE(store.gc().ran);
  CHECK_FALSE(fs::exists(folder / "elsewhere"));
  StoreOptions none;
  CHECK_FALSE(Store(none).gc().reason.empty());
  CHECK_FALSE(Store(options_at(folder / "absent")).gc().ran);
}

}  // namespace
}  // namespace kiln::cache
