// Roots and lock folders as they come: linked, oddly named, deep, vanishing, somebody else's.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <locale>
#include <thread>

#include "cache/store.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using kiln::testing::contains;
using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests
using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool serves(const fs::path& root) {
  StoreOptions options = options_at(root);
  options.lock_dir = {};
  Store store(options);
  const Key key = make_test_key("a");
  std::optional<Found> found;
  const EntryLock lock = store.lock(key, milliseconds(50), found);
  return !found && store.put(key, make_test_cubin(100), "op", "s") == PutResult::stored &&
         store.find(key).has_value() && store.gc().ran;
}

TEST_CASE("a root may be a link, have any bytes in its name, and lie deep", "[cache]") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "link");
  CHECK(serves(folder / "link"));
  CHECK(fs::exists(folder / "real/v1/e"));
  CHECK(serves(folder / "\xff\xfe\x80 \n\t'\""));
  fs::path deep = folder.path();
  while (deep.string().size() < 3700) deep /= std::string(200, 'd');
  CHECK(serves(deep));
}

TEST_CASE("a root whose path is too long is told about, and nothing else happens", "[cache]") {
  const TemporaryFolder folder;
  for (const fs::path& root : {folder / std::string(300, 'x'), folder / std::string(5000, 'x')}) {
    Recorder log;
    Store store(options_at(root, log));
    CHECK(store.put(make_test_key("a"), make_test_cubin(9), "op", "s") == PutResult::not_kept);
    CHECK_FALSE(store.find(make_test_key("a")));
    CHECK_THAT(log.text(), contains("ENAMETOOLONG"));
  }
}

TEST_CASE("folders may vanish under a store at any moment", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  std::atomic<bool> over{false};
  std::thread remover([&] {
    const std::array<fs::path, 5> parts = {
        root, root / "v1", root / "v1/e", root / "v1/tmp", root / "v1/stat"};
    std::error_code ignored;
    for (std::size_t i = 0; !over; ++i) {
      fs::remove_all(parts[i % parts.size()], ignored);
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  const auto end = steady_clock::now() + milliseconds(soaking() ? 20'000 : 1'000);
  int wrong = 0;
  {
    Store store(options_at(root));
    for (int i = 0; steady_clock::now() < end; ++i) {
      const Key key = make_test_key(std::to_string(i % 10));
      const Cubin cubin = make_test_cubin(2000, static_cast<std::uint32_t>(i % 10));
      (void)store.put(key, cubin, "op", "s");
      const auto found = store.find(key);
      if (found && found->cubin != cubin) ++wrong;
      if (i % 10 == 0) (void)store.gc();
    }
    CHECK(store.counters().bad == 0);
  }
  over = true;
  remover.join();
  CHECK(wrong == 0);
  fs::remove_all(root);
  CHECK(serves(root));
}

TEST_CASE("a user without a passwd entry uses a cache like any other", "[cache]") {
  if (::geteuid() != 0) {
    WARN("only root can become another user");
    return;
  }
  constexpr uid_t kNobodyKnows = 54321;
  const TemporaryFolder folder;
  give_to(kNobodyKnows, folder.path());
  CHECK(in_child([&] {
          if (::setresgid(kNobodyKnows, kNobodyKnows, kNobodyKnows) != 0) return 1;
          if (::setresuid(kNobodyKnows, kNobodyKnows, kNobodyKnows) != 0) return 2;
          // Groups that can write are looked up by name, too.
          ::umask(002);
          const Recorder log;
          Store store(options_at(folder / "deep/root", log));
          const Key key = make_test_key("a");
          if (store.put(key, make_test_cubin(500), "op", "s") != PutResult::stored) return 3;
          if (!store.find(key) || !store.find(key)) return 4;
          return log.warnings().empty() ? 0 : 5;
        }) == 0);
}

// "1.234" for numbers and "wahr" for true, as German has them.
struct Grouped : std::numpunct<char> {
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
  [[nodiscard]] std::string do_truename() const override { return "wahr"; }
};

TEST_CASE("a locale that groups digits changes no byte of an entry", "[cache]") {
  const TemporaryFolder folder;
  const Key key = make_test_key("a");
  Cubin cubin = make_test_cubin(123456);
  cubin.static_smem_bytes = 1234567;
  const auto bytes_of = [&](const fs::path& root) {
    Store store(options_at(root));
    REQUIRE(store.put(key, cubin, "op", "s") == PutResult::stored);
    const auto found = store.find(key);
    REQUIRE(found);
    CHECK(found->cubin == cubin);
    CHECK(store.gc().ran);
    return read_file(entry_file(root, key));
  };
  const std::string plain = bytes_of(folder / "plain");
  const std::locale before = std::locale::global(std::locale(std::locale(), new Grouped));
  const std::string grouped = bytes_of(folder / "grouped");
  std::locale::global(before);
  CHECK(plain == grouped);
}

TEST_CASE("a lock file that is unlinked costs a duplicate compile at most", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  Store store(options_at(root));
  Store other(options_at(root));
  const Key key = make_test_key("a");
  std::optional<Found> found;
  const EntryLock first = store.lock(key, milliseconds(0), found);
  REQUIRE(first.held());
  fs::remove(folder / "locks/kiln.lock");
  CHECK(other.lock(key, milliseconds(0), found).held());
  CHECK(store.put(key, make_test_cubin(100), "op", "s") == PutResult::stored);
  CHECK(other.put(key, make_test_cubin(100), "op", "s") == PutResult::already_there);
}

TEST_CASE("a lock folder that may not be written is told about, and nobody waits", "[cache]") {
  const TemporaryFolder folder;
  give_to(kNobody, folder.path());
  CHECK(as_nobody([&] {
          fs::create_directory(folder / "locks");
          fs::permissions(folder / "locks", fs::perms(0500));
          Recorder log;
          Store store(options_at(folder / "root", log));
          std::optional<Found> found;
          const auto start = steady_clock::now();
          if (store.lock(make_test_key("a"), std::chrono::seconds(60), found).held()) return 1;
          if (steady_clock::now() - start > std::chrono::seconds(5)) return 2;
          if (store.counters().unlocked != 1) return 3;
          return log.text().find("Permission denied") != std::string::npos ? 0 : 4;
        }) == 0);
}

}  // namespace
}  // namespace kiln::cache
