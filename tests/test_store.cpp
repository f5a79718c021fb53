// Finding, publishing, layers, listing: one process, nothing refused by the system.
// SPDX-License-Identifier: Apache-2.0
#include "cache/store.hpp"

#include <algorithm>
#include <set>

#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

TEST_CASE("what is put is found, by another store too", "[cache]") {
  const TemporaryFolder folder;
  const Key key = make_test_key("a");
  const Cubin cubin = make_test_cubin(20000);
  Recorder log;
  Store store(options_at(folder / "root", log));
  CHECK_FALSE(store.find(key));
  CHECK(store.put(key, cubin, "op", "op:n=1") == PutResult::stored);
  Store other(options_at(folder / "root", log));
  const auto found = other.find(key);
  REQUIRE(found);
  CHECK(found->cubin == cubin);
  CHECK_FALSE(found->from_layer);
  CHECK(found->path == entry_file(folder / "root", key));
  CHECK(found->info.digest == digest(key));
  CHECK(found->info.family == "f");
  CHECK(found->info.op == "op");
  CHECK(found->info.arch == "sm_90a");
  CHECK(found->info.toolchain == "nvrtc 13.0 aa bb");
  CHECK(found->info.entry == "entry_name");
  CHECK(found->info.registers == 40);
  CHECK(found->info.spill_bytes == 4);
  CHECK(found->info.cubin_bytes == 20000);
  CHECK(found->info.file_bytes == static_cast<std::int64_t>(fs::file_size(found->path)));
  CHECK(store.counters().misses == 1);
  CHECK(store.counters().puts == 1);
  CHECK(other.counters().hits == 1);
  CHECK(log.warnings().empty());
}

TEST_CASE("looking creates nothing", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  std::int64_t checked = 0;
  CHECK_FALSE(store.find(make_test_key("a")));
  CHECK(store.find_any_toolchain(make_test_key("a")).empty());
  CHECK(store.list().empty());
  CHECK(store.verify(checked).empty());
  store.quarantine(make_test_key("a"), "refused");
  CHECK(count_in(folder.path()) == 0);
}

TEST_CASE("a second put of a key keeps the first entry", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  CHECK(store.put(key, make_test_cubin(100, 1), "op", "s") == PutResult::stored);
  CHECK(store.put(key, make_test_cubin(100, 2), "op", "s") == PutResult::already_there);
  CHECK(store.find(key)->cubin == make_test_cubin(100, 1));
  CHECK(count_in(folder / "root/v1/tmp") == 0);
  CHECK(store.counters().already_there == 1);
}

TEST_CASE("without a root nothing is kept and nothing is said", "[cache]") {
  Recorder log;
  StoreOptions options;
  options.log = log;
  Store store(options);
  std::optional<Found> found;
  CHECK(store.put(make_test_key("a"), make_test_cubin(10), "op", "s") == PutResult::not_kept);
  CHECK_FALSE(store.find(make_test_key("a")));
  CHECK_FALSE(store.lock(make_test_key("a"), std::chrono::milliseconds(0), found).held());
  CHECK(log.warnings().empty());
}

TEST_CASE("a cache that is removed while in use is made again", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  CHECK(store.put(key, make_test_cubin(10), "op", "s") == PutResult::stored);
  fs::remove_all(folder / "root");
  CHECK_FALSE(store.find(key));
  CHECK(store.put(key, make_test_cubin(10), "op", "s") == PutResult::stored);
  CHECK(store.find(key));
}

TEST_CASE("layers are asked in order after the root, and nothing in them is ever written",
          "[cache]") {
  const TemporaryFolder folder;
  const auto fill = [&](const char* name, const Key& key, std::uint32_t seed) {
    Store(options_at(folder / name)).put(key, make_test_cubin(50, seed), "op", "s");
  };
  const Key both = make_test_key("both");
  const Key second = make_test_key("second");
  const Key damaged = make_test_key("damaged");
  fill("one", both, 1);
  fill("two", both, 2);
  fill("two", second, 3);
  fill("one", damaged, 4);
  fill("two", damaged, 5);
  const fs::path file = entry_file(folder / "one", damaged);
  write_file(file, read_file(file) + "x");
  const auto picture = [&] {
    std::set<std::string> all;
    for (const char* layer : {"one", "two"}) {
      for (const auto& item : fs::recursive_directory_iterator(folder / layer)) {
        all.insert(item.path().string() + (item.is_regular_file() ? read_file(item.path()) : ""));
      }
    }
    return all;
  };
  const auto before = picture();
  StoreOptions options = options_at(folder / "root");
  options.layers = {
      (folder / "absent").string(), (folder / "one").string(), (folder / "two").string()};
  Store store(options);
  CHECK(store.find(both)->cubin == make_test_cubin(50, 1));
  CHECK(store.find(both)->from_layer);
  CHECK(store.find(second)->cubin == make_test_cubin(50, 3));
  CHECK(store.find(damaged)->cubin == make_test_cubin(50, 5));
  store.quarantine(both, "refused");
  CHECK(store.put(both, make_test_cubin(50, 9), "op", "s") == PutResult::stored);
  CHECK(store.find(both)->cubin == make_test_cubin(50, 9));
  CHECK_FALSE(store.find(both)->from_layer);
  CHECK(store.counters().layer_hits == 4);
  CHECK(store.counters().hits == 2);
  CHECK(store.counters().bad == 1);
  CHECK(store.counters().quarantined == 0);
  CHECK(picture() == before);
  CHECK_FALSE(fs::exists(folder / "absent"));
}

TEST_CASE("any toolchain's entry of a kernel is found, newest first, the root before layers",
          "[cache]") {
  const TemporaryFolder folder;
  const auto key = [](const char* version, const char* id) {
    return make_test_key("k", version, id);
  };
  Store layer(options_at(folder / "layer"));
  layer.put(key("13.0", "x"), make_test_cubin(10, 1), "op", "s");
  layer.put(key("13.10", "x"), make_test_cubin(10, 2), "op", "s");
  StoreOptions options = options_at(folder / "root");
  options.layers = {(folder / "layer").string()};
  Store store(options);
  store.put(key("12.9", "x"), make_test_cubin(10, 3), "op", "s");
  store.put(key("13.0", "x"), make_test_cubin(10, 4), "op", "s");
  store.put(key("13.2", "x"), make_test_cubin(10, 5), "op", "s");
  store.put(make_test_key("other"), make_test_cubin(10, 6), "op", "s");
  Key any = key("", "");
  any.toolchain.clear();
  const auto all = store.find_any_toolchain(any);
  std::vector<std::string> versions;
  for (const Found& found : all) versions.push_back(found.info.toolchain.substr(0, 11));
  CHECK(versions ==
        std::vector<std::string>{"nvrtc 13.10", "nvrtc 13.2 ", "nvrtc 13.0 ", "nvrtc 12.9 "});
  CHECK(all.at(2).cubin == make_test_cubin(10, 4));
  CHECK(all.at(0).from_layer);
  CHECK_FALSE(store.find(any));
  CHECK(store.put(any, make_test_cubin(10), "op", "s") == PutResult::not_kept);
  write_file(entry_file(folder / "root", key("13.2", "x")), "damaged");
  CHECK(store.find_any_toolchain(any).size() == 3);
  CHECK(store.counters().quarantined == 1);
}

TEST_CASE("listing is sorted and leaves out what verify reports, and both repair nothing",
          "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  for (int i = 0; i < 8; ++i)
    store.put(make_test_key(std::to_string(i)), make_test_cubin(10), "op", "s");
  const fs::path damaged = entry_file(folder / "root", make_test_key("3"));
  write_file(damaged, "damaged");
  write_file(folder / "root/v1/e/stray", "x");
  write_file(damaged.parent_path() / "README", "x");
  const fs::path misnamed = entry_file(folder / "root", make_test_key("absent"));
  fs::create_directories(misnamed.parent_path());
  fs::copy_file(entry_file(folder / "root", make_test_key("4")), misnamed);
  const auto all = store.list();
  CHECK(all.size() == 7);
  CHECK(std::ranges::is_sorted(all, {}, [](const Found& found) { return found.info.digest; }));
  CHECK(std::ranges::all_of(all, [](const Found& found) { return found.info.cubin_bytes == 10; }));
  std::int64_t checked = 0;
  std::set<std::string> reported;
  for (const VerifyProblem& problem : store.verify(checked)) reported.insert(problem.path);
  CHECK(reported == std::set<std::string>{damaged.string(),
                                          misnamed.string(),
                                          folder / "root/v1/e/stray",
                                          damaged.parent_path() / "README"});
  CHECK(checked == 11);
  CHECK(fs::exists(damaged));
  CHECK(store.counters().quarantined == 0);
}

TEST_CASE("a relative root stays where it was when the working folder changes", "[cache]") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  StoreOptions options;
  options.root = "root";
  Store store(options);
  fs::current_path(before);
  CHECK(store.put(make_test_key("a"), make_test_cubin(10), "op", "s") == PutResult::stored);
  CHECK(fs::exists(folder / "root/v1"));
}

}  // namespace
}  // namespace kiln::cache
