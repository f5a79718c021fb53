// Outcomes on disk: added up over processes, whatever happens to the file.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include <sys/stat.h>

#include "cache/statistics.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

std::uint64_t count_of(Store& store, std::string_view name, bool zero = false) {
  for (const Statistic& line : store.statistics(zero)) {
    if (line.name == name) return line.count;
  }
  return 12345678;
}

TEST_CASE("statistics add up what all processes did", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const Key key = make_test_key("a");
  for (int i = 0; i < 3; ++i) {
    REQUIRE(in_child([&] {
              Store store(options_at(root));
              (void)store.put(key, make_test_cubin(100), "op", "s");
              return store.find(key) && !store.find(make_test_key("b")) ? 0 : 1;
            }) == 0);
  }
  Store store(options_at(root));
  CHECK(store.find(key));
  CHECK(count_of(store, "stored") == 1);
  CHECK(count_of(store, "already_there") == 2);
  CHECK(count_of(store, "miss") == 3);
  CHECK(count_of(store, "hit") == 4);
  CHECK(count_of(store, "hit", true) == 4);
  CHECK(count_of(store, "hit") == 0);
  CHECK(store.find(key));
  CHECK(count_of(store, "hit") == 1);
  CHECK(mode_of(root / "v1/stat/counters") == 0600);
}

TEST_CASE("a forked child saves only what it counted itself", "[cache]") {
  const TemporaryFolder folder;
  const Key key = make_test_key("a");
  Store store(options_at(folder / "root"));
  (void)store.put(key, make_test_cubin(100), "op", "s");
  for (int i = 0; i < 5; ++i) CHECK(store.find(key));
  CHECK(in_child([&] {
          (void)store.statistics();
          return store.find(key) ? 0 : 1;
        }) == 0);
  CHECK(count_of(store, "stored") == 1);
  CHECK(count_of(store, "hit") == 5);
}

TEST_CASE("the file of statistics stays small and keeps its sums", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  Store store(options_at(root));
  (void)store.put(make_test_key("a"), make_test_cubin(100), "op", "s");
  const auto opened = open_root(root.string(), RootKind::own);
  Sums one{};
  one[2] = 1;
  for (int i = 0; i < 1000; ++i) REQUIRE(append_statistics(std::get<Root>(opened), one));
  CHECK(count_of(store, "miss") == 1000);
  CHECK(fs::file_size(root / "v1/stat/counters") < 70000);
  CHECK(count_in(root / "v1/stat") == 2);
}

TEST_CASE("bytes that are no record are skipped, and the records around them count", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const fs::path file = root / "v1/stat/counters";
  Store store(options_at(root));
  for (int i = 0; i < 3; ++i) {
    (void)store.put(make_test_key(std::to_string(i)), make_test_cubin(100), "op", "s");
    (void)store.statistics();
  }
  const std::string right = read_file(file);
  const std::size_t record = right.size() / 3;
  write_file(file,
             "noise" + right.substr(0, record) + right.substr(record, record / 2) +
                 right.substr(2 * record));
  CHECK(count_of(store, "stored") == 2);
  for (const std::size_t at : {std::size_t{3}, record / 2, record - 1}) {
    std::string wrong = right;
    wrong[at] = static_cast<char>(wrong[at] ^ 4);
    write_file(file, wrong);
    CHECK(count_of(store, "stored") == 2);
  }
  write_file(file, std::string(5 << 20, 'K'));
  CHECK(count_of(store, "stored") == 0);
}

TEST_CASE("whatever stands in the place of stat costs the statistics alone", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const Key key = make_test_key("a");
  const auto works = [&] {
    Store store(options_at(root));
    (void)store.put(key, make_test_cubin(100), "op", "s");
    return store.find(key).has_value() && count_of(store, "hit") == 0;
  };
  fs::create_directories(root / "v1");
  write_file(root / "v1/stat", "x");
  CHECK(works());
  fs::remove(root / "v1/stat");
  fs::create_directory_symlink(folder.path(), root / "v1/stat");
  CHECK(works());
  fs::remove(root / "v1/stat");
  fs::create_directory(root / "v1/stat");
  REQUIRE(::mkfifo((root / "v1/stat/counters").c_str(), 0600) == 0);
  CHECK(works());
}

TEST_CASE("every outcome has a slot, a name and a counter of its own", "[cache]") {
  CHECK(outcomes().size() <= kStatisticSlots);
  std::set<std::string_view> names;
  for (const Outcome& outcome : outcomes()) {
    CHECK_FALSE(outcome.sentence.empty());
    names.insert(outcome.name);
    Counters counters;
    ++(counters.*outcome.counter);
    std::uint64_t sum = 0;
    for (const Outcome& other : outcomes()) sum += counters.*other.counter;
    CHECK(sum == 1);
  }
  CHECK(names.size() == outcomes().size());
}

TEST_CASE("telemetry tells each outcome with its digest, and may throw", "[cache]") {
  const TemporaryFolder folder;
  StoreOptions options = options_at(folder / "root");
  std::map<std::string, std::string> told;
  options.telemetry = [&](std::string_view event, std::string_view digest, std::string_view) {
    told[std::string(event)] = digest;
    throw 1;
  };
  Store store(options);
  const Key key = make_test_key("a");
  const std::string hex = digest(key).kernel_hex();
  CHECK_FALSE(store.find(key));
  (void)store.put(key, make_test_cubin(100), "op", "s");
  CHECK(store.find(key));
  write_file(entry_file(folder / "root", key), "damaged");
  CHECK_FALSE(store.find(key));
  CHECK(told["miss"] == hex);
  CHECK(told["stored"] == hex);
  CHECK(told["hit"] == hex);
  CHECK(told.contains("bad"));
  CHECK(told.contains("quarantined"));
}

}  // namespace
}  // namespace kiln::cache
