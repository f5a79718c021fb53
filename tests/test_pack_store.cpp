// Packs as layers of a store: hits wherever they lie, each policy, and damage that costs one
// kernel.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/pack_fixtures.hpp"

namespace kiln::cache {
namespace {

using namespace testing;
using kiln::testing::contains;

StoreOptions with_layer(const TemporaryFolder& folder, const std::string& layer, Log log = {}) {
  StoreOptions options = options_at(folder / "root", std::move(log));
  options.layers = {layer};
  return options;
}

Key numbered(int i) { return make_test_key("source " + std::to_string(i)); }

TEST_CASE("which signature was compiled first does not show in an entry", "[pack]") {
  const TemporaryFolder folder;
  const Key key = make_test_key("s");
  Store one(options_at(folder / "one"));
  Store two(options_at(folder / "two"));
  CHECK(one.put(key, make_test_cubin(500), "op", "op:n=1") == PutResult::stored);
  CHECK(two.put(key, make_test_cubin(500), "op", "op:n=2,x=bf16") == PutResult::stored);
  CHECK(read_file(entry_file(folder / "one", key)) == read_file(entry_file(folder / "two", key)));
}

TEST_CASE("a pack made under one prefix hits every time under another, without being extracted",
          "[pack]") {
  const TemporaryFolder made;
  const TemporaryFolder used;
  constexpr int kEntries = 200;
  fs::copy_file(make_pack(made, kEntries), used / "moved.kpack");
  fs::remove_all(made.path());
  Store store(with_layer(used, (used / "moved.kpack").string()));
  for (int i = 0; i < kEntries; ++i) {
    const auto found = store.find(numbered(i));
    REQUIRE(found);
    CHECK(found->from_layer);
    CHECK(found->cubin == make_test_cubin(64));
  }
  CHECK(store.counters().layer_hits == kEntries);
  CHECK(store.counters().misses == 0);
  CHECK_FALSE(store.find(numbered(kEntries)));
  CHECK_FALSE(fs::exists(used / "root" / "v1/e"));
}

TEST_CASE("the kernel of a pack serves any toolchain's request, newest first", "[pack]") {
  const TemporaryFolder folder;
  PackContents contents;
  for (const char* version : {"12.9", "13.1", "13.0"})
    contents.sources.push_back(put_entry(folder / "e", make_test_key("s", version)));
  require_done(write_pack((folder / "p.kpack").string(), contents));
  Store store(with_layer(folder, (folder / "p.kpack").string()));
  Key any = make_test_key("s");
  any.toolchain.clear();
  const auto all = store.find_any_toolchain(any);
  REQUIRE(all.size() == 3);
  CHECK_THAT(all[0].info.toolchain, contains("13.1"));
  CHECK_THAT(all[2].info.toolchain, contains("12.9"));
}

TEST_CASE("what a store found in a pack can be packed again, to the same bytes", "[pack]") {
  const TemporaryFolder folder;
  const fs::path pack = make_pack(folder, 5);
  Store store(with_layer(folder, pack.string()));
  PackContents contents{{}, "models", {"op:n=1", "op:n=2"}, true};
  for (const Found& found : store.list())
    contents.sources.push_back({found.info.digest, found.path});
  CHECK(contents.sources.size() == 5);
  require_done(write_pack((folder / "q.kpack").string(), contents));
  CHECK(read_file(folder / "q.kpack") == read_file(pack));
}

TEST_CASE("a layer's policy decides about packs and folders", "[pack]") {
  const TemporaryFolder folder;
  const fs::path pack = make_pack(folder, 1);
  const TestKeys keys(folder);
  const auto hits = [&](const std::string& layer, Recorder& log) {
    StoreOptions options = with_layer(folder, layer, log);
    options.trusted_keys = keys.trusted;
    return Store(options).find(numbered(0)).has_value();
  };
  const std::string entries = (folder / "entries").string();
  for (const std::string& place : {pack.string(), entries}) {
    Recorder quiet;
    CHECK(hits(place, quiet));
    CHECK(hits(place + "?sign=off", quiet));
    CHECK(quiet.warnings().empty());
    Recorder warned;
    CHECK(hits(place + "?sign=warn", warned));
    CHECK_THAT(warned.text(), contains("not signed"));
    Recorder refused;
    CHECK_FALSE(hits(place + "?sign=require", refused));
    CHECK_THAT(refused.text(), contains("not signed"));
    Recorder unknown;
    CHECK_FALSE(hits(place + "?sign=maybe", unknown));
    CHECK_THAT(unknown.text(), contains("require"));
  }
  require_done(sign_pack(pack.string(), keys.private_key));
  Recorder quiet;
  for (const char* policy : {"off", "warn", "require"})
    CHECK(hits(pack.string() + "?sign=" + policy, quiet));
  CHECK(quiet.warnings().empty());
}

TEST_CASE("a damaged entry of a pack is one miss, and the others hit", "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 10);
  PackEntry victim;
  {
    const Pack pack = open_pack(path);
    victim = *pack.find(digest(numbered(3)));
  }
  std::string bytes = read_file(path);
  bytes[victim.offset + victim.bytes / 2] ^= 4;
  write_file(path, bytes);
  Recorder log;
  Store store(with_layer(folder, path.string(), log));
  for (int i = 0; i < 10; ++i) CHECK(store.find(numbered(i)).has_value() == (i != 3));
  CHECK(store.counters().bad == 1);
  CHECK_THAT(log.text(), contains("not those of the index"));
  CHECK(read_file(path) == bytes);
  // Compiled and put, it is served by the root.
  CHECK(store.put(numbered(3), make_test_cubin(64), "op", "op:n=3") == PutResult::stored);
  CHECK(store.find(numbered(3)));
  std::int64_t checked = 0;
  CHECK(store.verify(checked).size() == 1);
}

TEST_CASE("a pack that is no pack is a miss with a reason, told once", "[pack]") {
  const TemporaryFolder folder;
  write_file(folder / "p.kpack", "no pack");
  Recorder log;
  Store store(with_layer(folder, (folder / "p.kpack").string(), log));
  CHECK_FALSE(store.find(numbered(0)));
  CHECK_FALSE(store.find(numbered(1)));
  CHECK(log.warnings().size() == 1);
  CHECK_THAT(log.text(), contains("too short to be a pack"));
}

TEST_CASE("many threads read one pack through one store", "[pack]") {
  const TemporaryFolder folder;
  Store store(with_layer(folder, make_pack(folder, 100).string()));
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 8; ++reader) {
    readers.emplace_back([&] {
      for (int i = 0; i < 100; ++i) (void)store.find(numbered(i));
    });
  }
  for (std::thread& reader : readers) reader.join();
  CHECK(store.counters().layer_hits == 800);
}

}  // namespace
}  // namespace kiln::cache
