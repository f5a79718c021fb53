// What one store sees of a root that changes between two looks: everything, though it does not walk
// the path each time.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "cache/store.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

const Key kKey = make_test_key("a");

void fill(const fs::path& root, std::uint32_t seed) {
  Store store(options_at(root));
  if (store.put(kKey, make_test_cubin(3000, seed), "op", "s") != PutResult::stored) std::abort();
}

// As another user: a root with an entry, found twice by one store, then changed. 0 when the next
// find is what it should be.
int after(const std::function<void(const fs::path& root)>& change,
          const std::function<bool(Store& store, const std::string& told)>& right) {
  const TemporaryFolder folder;
  give_to(kNobody, folder.path());
  return as_nobody([&] {
    const fs::path root = folder / "parent/root";
    fill(root, 1);
    const Recorder recorder;
    Store store(options_at(root, recorder));
    for (int i = 0; i < 2; ++i) {
      if (!store.find(kKey)) return 1;
    }
    if (store.counters().hits != 2 || !recorder.warnings().empty()) return 2;
    change(root);
    return right(store, recorder.text()) ? 0 : 3;
  });
}

void set_mode(const fs::path& path, unsigned mode) { fs::permissions(path, fs::perms(mode)); }

TEST_CASE("a folder that others can write is refused by a store that used it before", "[cache]") {
  const EntryName name = entry_name(digest(kKey));
  const auto refused = [](Store& store, const std::string&) {
    const bool missed = !store.find(kKey);
    return missed && store.counters().refused_places + store.counters().unreadable == 1;
  };
  CHECK(after([](const fs::path& root) { set_mode(root / "v1/e", 0777); }, refused) == 0);
  CHECK(after([&](const fs::path& root) { set_mode(root / "v1/e" / name.folder, 0777); },
              refused) == 0);
  // Above v1/e nothing of the entries can be changed, only replaced: told within a second or so.
  const auto refused_soon = [&](Store& store, const std::string& told) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    return refused(store, told);
  };
  CHECK(after([](const fs::path& root) { set_mode(root.parent_path(), 0777); }, refused_soon) == 0);
  CHECK(after([](const fs::path& root) { set_mode(root, 0777); }, refused_soon) == 0);
}

TEST_CASE("a root that takes another's place is seen at the next look", "[cache]") {
  const auto replace = [](const fs::path& what) {
    fs::rename(what, what.string() + ".old");
    const fs::path other = what.parent_path() / "other";
    fill(other, 2);
    return other;
  };
  const auto is_new = [](Store& store, const std::string&) {
    const auto found = store.find(kKey);
    return found && found->cubin == make_test_cubin(3000, 2);
  };
  const auto missing = [](Store& store, const std::string&) { return !store.find(kKey); };
  CHECK(after([&](const fs::path& root) { fs::rename(replace(root), root); }, is_new) == 0);
  CHECK(after([&](const fs::path& root) { fs::rename(replace(root / "v1") / "v1", root / "v1"); },
              is_new) == 0);
  CHECK(after([&](const fs::path& root) { fs::create_symlink(replace(root), root); }, is_new) == 0);
  CHECK(after([&](const fs::path& root) { fs::remove_all(root); }, missing) == 0);
  // A link below the root is never followed, wherever it leads.
  CHECK(after(
            [&](const fs::path& root) {
              fs::create_symlink(replace(root / "v1") / "v1", root / "v1");
            },
            missing) == 0);
  const EntryName name = entry_name(digest(kKey));
  CHECK(after(
            [&](const fs::path& root) {
              const fs::path folder = root / "v1/e" / name.folder;
              fs::create_symlink(replace(folder) / "v1/e" / name.folder, folder);
            },
            missing) == 0);
}

TEST_CASE("what another user puts in the place of v1/e is not used", "[cache]") {
  if (::geteuid() != 0) {
    WARN("only root can give files away");
    return;
  }
  constexpr uid_t kOther = 12345;
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  fill(root, 1);
  fill(folder / "planted", 2);
  set_mode(folder.path(), 0755);
  for (const auto& item : fs::recursive_directory_iterator(folder / "planted"))
    give_to(kOther, item.path());
  for (const auto& item : fs::recursive_directory_iterator(root)) give_to(kNobody, item.path());
  give_to(kNobody, root);
  Store store(options_at(root));  // of root, who trusts nobody else
  CHECK(!store.find(kKey));
  const auto files = [&](uid_t user) {
    for (const auto& item : fs::recursive_directory_iterator(root)) give_to(user, item.path());
    give_to(user, root);
  };
  files(0);
  REQUIRE(store.find(kKey));
  REQUIRE(store.find(kKey));
  fs::rename(root / "v1/e", root / "v1/away");
  fs::rename(folder / "planted/v1/e", root / "v1/e");
  CHECK(!store.find(kKey));
  CHECK(store.counters().hits == 2);
}

TEST_CASE("a layer is recognised as a root is, and stays as it is", "[cache]") {
  const TemporaryFolder folder;
  const fs::path layer = folder / "layer";
  fill(layer, 1);
  StoreOptions options;
  options.layers = {layer.string()};
  Store store(options);
  for (int i = 0; i < 3; ++i) {
    const auto found = store.find(kKey);
    REQUIRE(found);
    CHECK(found->from_layer);
    CHECK(found->path == entry_file(fs::canonical(layer), kKey).string());
    CHECK(found->info.digest == digest(kKey));
  }
  CHECK(!store.find(make_test_key("b")));
  write_file(entry_file(layer, kKey), "damaged");
  CHECK(!store.find(kKey));
  CHECK(store.counters().bad == 1);
  CHECK(read_file(entry_file(layer, kKey)) == "damaged");
}

}  // namespace
}  // namespace kiln::cache
