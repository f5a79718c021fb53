// Whose folders and files are used, and with which modes they are made.
// SPDX-License-Identifier: Apache-2.0
#include "cache/store.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

bool fill(const fs::path& root, int count) {
  Store store(options_at(root));
  for (int i = 0; i < count; ++i) {
    if (store.put(make_test_key(std::to_string(i)), make_test_cubin(500), "op", "s") !=
        PutResult::stored)
      return false;
  }
  return true;
}

// 0 when neither find nor put uses the root, and one warning with the piece says so.
int distrusts(const fs::path& root, const std::string& piece) {
  Recorder log;
  Store store(options_at(root, log));
  if (store.find(make_test_key("0"))) return 1;
  if (store.put(make_test_key("0"), make_test_cubin(5), "op", "s") != PutResult::not_kept) return 2;
  if (log.warnings().size() != 1) return 3;
  return log.text().find(piece) != std::string::npos ? 0 : 4;
}

TEST_CASE("folders are 0700 and files 0600 whatever the umask", "[cache]") {
  for (const mode_t mask : {0000, 0022, 0027, 0077, 0177, 0277, 0777}) {
    const TemporaryFolder folder;
    give_to(kNobody, folder.path());
    const fs::path root = folder / "deep/root";
    INFO("umask " << mask);
    CHECK(as_nobody([&] {
            ::umask(mask);
            if (!fill(root, 3)) return 1;
            Store store(options_at(root));
            std::optional<Found> found;
            if (!store.lock(make_test_key("new"), std::chrono::milliseconds(0), found).held())
              return 2;
            return store.find(make_test_key("2")) ? 0 : 3;
          }) == 0);
    CHECK(mode_of(folder / "deep") == 0700);
    CHECK(mode_of(root) == 0700);
    CHECK(mode_of(folder / "deep/locks") == 0700);
    CHECK(mode_of(folder / "deep/locks/kiln.lock") == 0600);
    for (const auto& item : fs::recursive_directory_iterator(root)) {
      INFO(item.path());
      CHECK(mode_of(item.path()) == (item.is_directory() ? 0700U : 0600U));
    }
  }
}

TEST_CASE("a root or parent that another user can write is refused with a reason", "[cache]") {
  const TemporaryFolder folder;
  give_to(kNobody, folder.path());
  const fs::path root = folder / "parent/root";
  REQUIRE(as_nobody([&] { return fill(root, 1) ? 0 : 1; }) == 0);
  const auto with_mode = [&](const fs::path& path, unsigned mode, const std::string& piece) {
    return as_nobody([&] {
      fs::permissions(path, fs::perms(mode));
      const int code = distrusts(root, piece);
      fs::permissions(path, fs::perms(0700));
      return code;
    });
  };
  CHECK(with_mode(root, 0777, "anybody") == 0);
  CHECK(with_mode(root, 01777, "anybody") == 0);
  CHECK(with_mode(root, 0770, "group") == 0);
  CHECK(with_mode(root / "v1", 0777, "anybody") == 0);
  CHECK(with_mode(root / "v1/e", 0777, "anybody") == 0);
  CHECK(with_mode(root.parent_path(), 0777, "chmod go-w") == 0);
  // Sticky, like /tmp: others cannot replace what is below.
  CHECK(with_mode(root.parent_path(), 01777, "") != 0);
  CHECK(as_nobody([&] { return Store(options_at(root)).find(make_test_key("0")) ? 0 : 1; }) == 0);
}

TEST_CASE("what belongs to another user is not used", "[cache]") {
  if (::geteuid() != 0) {
    WARN("only root can give files away");
    return;
  }
  constexpr uid_t kOther = 12345;
  const TemporaryFolder folder;
  give_to(kNobody, folder.path());
  const fs::path root = folder / "parent/root";
  REQUIRE(as_nobody([&] { return fill(root, 2) ? 0 : 1; }) == 0);
  const auto refused = [&] {
    return as_nobody([&] { return distrusts(root, "belongs to user 12345"); });
  };
  for (const fs::path& path : {root, root.parent_path()}) {
    fs::permissions(path, fs::perms(0755));
    give_to(kOther, path);
    CHECK(refused() == 0);
    give_to(kNobody, path);
  }
  give_to(kOther, entry_file(root, make_test_key("0")));
  fs::permissions(entry_file(root, make_test_key("0")), fs::perms(0644));
  fs::permissions(entry_file(root, make_test_key("1")), fs::perms(0666));
  CHECK(as_nobody([&] {
          Store store(options_at(root));
          if (store.find(make_test_key("0")) || store.find(make_test_key("1"))) return 1;
          return store.counters().quarantined == 2 ? 0 : 2;
        }) == 0);
}

TEST_CASE("a layer is its owner's to fill, and nobody else's", "[cache]") {
  const TemporaryFolder folder;
  REQUIRE(fill(folder / "layer", 1));
  give_to(12345, folder / "layer");
  for (const auto& item : fs::recursive_directory_iterator(folder / "layer")) {
    give_to(12345, item.path());
    fs::permissions(item.path(), fs::perms(item.is_directory() ? 0755 : 0644));
  }
  fs::permissions(folder / "layer", fs::perms(0755));
  fs::permissions(folder.path(), fs::perms(0755));
  const auto found = [&] {
    StoreOptions options;
    options.layers = {(folder / "layer").string()};
    return as_nobody([&] { return Store(options).find(make_test_key("0")) ? 0 : 1; });
  };
  CHECK(found() == 0);
  fs::permissions(folder / "layer", fs::perms(0777));
  CHECK(found() == 1);
}

}  // namespace
}  // namespace kiln::cache
