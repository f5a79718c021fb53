// Locks of single digests: exclusion, independence, death and stopping of the holder.
// SPDX-License-Identifier: Apache-2.0
#include "cache/lock.hpp"

#include <chrono>
#include <csignal>
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

// A child that holds the lock of a key until it is killed.
pid_t start_holder(const fs::path& root, const Key& key) {
  std::array<int, 2> ready{};
  REQUIRE(::pipe(ready.data()) == 0);
  const pid_t child = fork_child([&] {
    Store store(options_at(root));
    std::optional<Found> found;
    const EntryLock lock = store.lock(key, milliseconds(1000), found);
    (void)!::write(ready[1], lock.held() ? "y" : "n", 1);
    for (;;) ::pause();
    return 0;
  });
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  REQUIRE(answer == 'y');
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

void end(pid_t child) {
  REQUIRE(::kill(child, SIGKILL) == 0);
  CHECK(wait_for(child) == 1000 + SIGKILL);
}

TEST_CASE("a lock excludes the same digest and no other", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  std::optional<Found> found;
  EntryLock first = store.lock(make_test_key("a"), milliseconds(0), found);
  CHECK(first.held());
  CHECK_FALSE(store.lock(make_test_key("a"), milliseconds(0), found).held());
  CHECK(store.lock(make_test_key("b"), milliseconds(0), found).held());
  CHECK(store.lock(make_test_key("a", "13.1"), milliseconds(0), found).held());
  CHECK(store.counters().lock_waits == 1);
  CHECK(store.counters().lock_timeouts == 1);
  first = EntryLock{};
  CHECK(store.lock(make_test_key("a"), milliseconds(0), found).held());
}

TEST_CASE("a moved lock is held once", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  std::optional<Found> found;
  EntryLock one = store.lock(make_test_key("a"), milliseconds(0), found);
  EntryLock two = std::move(one);
  CHECK(two.held());
  CHECK_FALSE(one.held());  // NOLINT(bugprone-use-after-move): that is the question
  EntryLock three = store.lock(make_test_key("b"), milliseconds(0), found);
  three = std::move(two);
  CHECK(store.lock(make_test_key("b"), milliseconds(0), found).held());
  CHECK_FALSE(store.lock(make_test_key("a"), milliseconds(0), found).held());
}

TEST_CASE("a waiter is served the entry as soon as it appears, though the lock stays held",
          "[cache]") {
  const TemporaryFolder folder;
  const Key key = make_test_key("a");
  const pid_t holder = start_holder(folder / "root", key);
  Store store(options_at(folder / "root"));
  std::thread publisher([&] {
    std::this_thread::sleep_for(milliseconds(50));
    Store(options_at(folder / "root")).put(key, make_test_cubin(10), "op", "s");
  });
  std::optional<Found> found;
  const EntryLock lock = store.lock(key, std::chrono::seconds(30), found);
  publisher.join();
  CHECK_FALSE(lock.held());
  REQUIRE(found);
  CHECK(found->cubin == make_test_cubin(10));
  CHECK(store.counters().lock_waits == 1);
  CHECK(store.counters().hits == 1);
  end(holder);
}

TEST_CASE("a holder that dies frees its lock", "[cache]") {
  const TemporaryFolder folder;
  const Key key = make_test_key("a");
  const pid_t holder = start_holder(folder / "root", key);
  Store store(options_at(folder / "root"));
  std::optional<Found> found;
  CHECK_FALSE(store.lock(key, milliseconds(20), found).held());
  std::thread killer([&] {
    std::this_thread::sleep_for(milliseconds(50));
    ::kill(holder, SIGKILL);
  });
  CHECK(store.lock(key, std::chrono::seconds(30), found).held());
  killer.join();
  CHECK(wait_for(holder) == 1000 + SIGKILL);
}

TEST_CASE("a stopped holder costs at most the wait budget", "[cache]") {
  const TemporaryFolder folder;
  const Key key = make_test_key("a");
  const pid_t holder = start_holder(folder / "root", key);
  REQUIRE(::kill(holder, SIGSTOP) == 0);
  Store store(options_at(folder / "root"));
  std::optional<Found> found;
  const auto start = steady_clock::now();
  CHECK_FALSE(store.lock(key, milliseconds(200), found).held());
  const auto waited = steady_clock::now() - start;
  CHECK(waited >= milliseconds(200));
  CHECK(waited < milliseconds(2000));  // the budget, and room for a busy machine
  CHECK(store.counters().lock_timeouts == 1);
  CHECK(store.put(key, make_test_cubin(10), "op", "s") == PutResult::stored);
  end(holder);
}

TEST_CASE("releasing a lock frees it though a forked child has it open", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  std::optional<Found> found;
  pid_t child = 0;
  {
    const EntryLock lock = store.lock(make_test_key("a"), milliseconds(0), found);
    REQUIRE(lock.held());
    child = fork_child([] {
      for (;;) ::pause();
      return 0;
    });
  }
  CHECK(store.lock(make_test_key("a"), milliseconds(0), found).held());
  end(child);
}

TEST_CASE("offsets stay in range and tell digests apart", "[cache]") {
  Digest digest;
  digest.kernel.fill(0xff);
  CHECK(lock_offset(digest) == (std::int64_t{1} << 62U) - 1);
  Digest other = digest;
  other.toolchain[3] = 1;
  CHECK(lock_offset(other) != lock_offset(digest));
  CHECK(default_lock_folder() == "/dev/shm/kiln-" + std::to_string(::geteuid()));
}

TEST_CASE("a lock folder of another user, or one that others can write, is not used", "[cache]") {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms(01777));
  const auto refused = [&](const fs::path& locks, const std::string& piece) {
    return as_nobody([&] {
      const auto opened = open_lock_file(locks.string());
      const auto* problem = std::get_if<Problem>(&opened);
      if (problem == nullptr) return 1;
      return problem->text.find(piece) != std::string::npos ? 0 : 2;
    });
  };
  for (const char* name : {"others", "open", "file"}) fs::create_directory(folder / name);
  give_to(12345, folder / "others");
  give_to(kNobody, folder / "open");
  give_to(kNobody, folder / "file");
  fs::permissions(folder / "open", fs::perms(0777));
  write_file(folder / "target", "");
  fs::create_symlink(folder / "target", folder / "file/kiln.lock");
  fs::create_directory_symlink(folder / "open", folder / "link");
  if (::geteuid() == 0) CHECK(refused(folder / "others", "belongs to user 12345") == 0);
  CHECK(refused(folder / "open", "can be written by anybody") == 0);
  CHECK(refused(folder / "file", "ELOOP") == 0);
  CHECK(refused(folder / "link", "cannot lock in") == 0);
  CHECK(refused(folder / "absent/locks", "No such file") == 0);
}

TEST_CASE("where locking is impossible the caller compiles at once, told once", "[cache]") {
  const TemporaryFolder folder;
  Recorder log;
  StoreOptions options = options_at(folder / "root", log);
  options.lock_dir = (folder / "absent/locks").string();
  Store store(options);
  std::optional<Found> found;
  for (int i = 0; i < 2; ++i)
    CHECK_FALSE(store.lock(make_test_key("a"), std::chrono::seconds(60), found).held());
  REQUIRE(log.warnings().size() == 1);
  CHECK_THAT(log.text(), contains("more than once"));
}

}  // namespace
}  // namespace kiln::cache
