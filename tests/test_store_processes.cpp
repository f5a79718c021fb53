// Many processes on one cache: one winner, no damage when they die, one compile of a stampede.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <thread>

#include <fcntl.h>

#include "cache/store.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests
using std::chrono::milliseconds;

constexpr int kProcesses = 16;

// Starts them together: each waits until the gate's last writer closes it.
std::vector<int> run_together(const std::function<int(int)>& body, int processes = kProcesses) {
  std::array<int, 2> gate{};
  REQUIRE(::pipe(gate.data()) == 0);
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    children.push_back(fork_child([&, i] {
      ::close(gate[1]);
      char byte = 0;
      (void)!::read(gate[0], &byte, 1);
      return body(i);
    }));
  }
  ::close(gate[0]);
  ::close(gate[1]);
  std::vector<int> codes;
  for (const pid_t child : children) codes.push_back(wait_for(child));
  return codes;
}

TEST_CASE("of sixteen processes that put one key, one wins and all read its bytes", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const Key key = make_test_key("a");
  constexpr int kStored = 40;
  constexpr int kThere = 41;
  const auto codes = run_together([&](int) {
    Store store(options_at(root));
    const PutResult result = store.put(key, make_test_cubin(50000), "op", "s");
    const auto found = store.find(key);
    if (!found || found->cubin != make_test_cubin(50000)) return 1;
    return result == PutResult::stored ? kStored : result == PutResult::already_there ? kThere : 2;
  });
  CHECK(std::count(codes.begin(), codes.end(), kStored) == 1);
  CHECK(std::count(codes.begin(), codes.end(), kThere) == kProcesses - 1);
  CHECK(count_in(root / "v1/tmp") == 0);
}

TEST_CASE("a stampede of processes on many keys compiles each once", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const int processes = soaking() ? 64 : 8;
  const int keys = soaking() ? 500 : 20;
  const fs::path compiles = folder / "compiles";
  const auto serve = [&](Store& store, int which) {
    const Key key = make_test_key(std::to_string(which));
    const Cubin cubin = make_test_cubin(3000, static_cast<std::uint32_t>(which));
    std::optional<Found> found = store.find(key);
    if (found) return found->cubin == cubin;
    const EntryLock lock = store.lock(key, std::chrono::seconds(300), found);
    if (found) return found->cubin == cubin;
    const int fd = ::open(compiles.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const bool counted = ::write(fd, "c", 1) == 1;
    ::close(fd);
    return counted && lock.held() && store.put(key, cubin, "op", "s") == PutResult::stored;
  };
  const auto codes = run_together(
      [&](int process) {
        Store store(options_at(root));
        for (int i = 0; i < keys; ++i) {
          // Half of them go the other way round.
          if (!serve(store, process % 2 == 0 ? i : keys - 1 - i)) return 1;
        }
        return 0;
      },
      processes);
  CHECK(codes == std::vector<int>(static_cast<std::size_t>(processes), 0));
  CHECK(fs::file_size(compiles) == static_cast<std::uintmax_t>(keys));
  CHECK(count_in(root / "v1/tmp") == 0);
}

TEST_CASE("many processes that need one kernel compile it once", "[cache]") {
  constexpr int kMany = 64;
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const fs::path compiles = folder / "compiles";
  const Key key = make_test_key("a");
  const auto codes = run_together(
      [&](int) {
        Store store(options_at(root));
        if (store.find(key)) return 0;
        std::optional<Found> found;
        const EntryLock lock = store.lock(key, std::chrono::seconds(30), found);
        if (found) return found->cubin == make_test_cubin(5000) ? 0 : 1;
        if (!lock.held()) return 2;
        const int fd = ::open(compiles.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (::write(fd, "c", 1) != 1) return 3;
        std::this_thread::sleep_for(milliseconds(100));
        return store.put(key, make_test_cubin(5000), "op", "s") == PutResult::stored ? 0 : 4;
      },
      kMany);
  CHECK(codes == std::vector<int>(kMany, 0));
  CHECK(read_file(compiles) == "c");
}

TEST_CASE("sixteen threads with stores of their own compile once, too", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const Key key = make_test_key("a");
  std::atomic<int> compiles{0};
  std::atomic<int> served{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kProcesses; ++i) {
    threads.emplace_back([&] {
      Store store(options_at(root));
      std::optional<Found> found;
      const EntryLock lock = store.lock(key, std::chrono::seconds(30), found);
      if (!found && lock.held()) {
        ++compiles;
        std::this_thread::sleep_for(milliseconds(50));
        store.put(key, make_test_cubin(500), "op", "s");
        found = store.find(key);
      }
      if (found) ++served;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(compiles == 1);
  CHECK(served == kProcesses);
}

TEST_CASE("one store serves many threads that find and put at once", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const Key key = make_test_key(std::to_string(round));
        const Cubin cubin = make_test_cubin(100, static_cast<std::uint32_t>(round));
        if (!store.find(key)) (void)store.put(key, cubin, "op", "s");
        const auto found = store.find(key);
        if (!found || found->cubin != cubin) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(store.counters().puts == 20);
}

}  // namespace
}  // namespace kiln::cache
