// Processes that are killed while they use a cache and its packs, many times.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "cache/pack.hpp"
#include "cache/store.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

constexpr int kKeys = 64;

Key key_of(int which) { return make_test_key(std::to_string(which)); }
Cubin cubin_of(int which) { return make_test_cubin(30000, static_cast<std::uint32_t>(which)); }

// One cache, one pack of it, and a key to sign with, for all processes.
struct Places {
  fs::path root;
  fs::path pack;
  fs::path key;
};

// What another process removes meanwhile is no problem of a pack: then none is written.
void pack_all(const Places& at, Store& store) {
  PackContents contents;
  for (const Found& found : store.list())
    contents.sources.push_back({found.info.digest, found.path});
  (void)write_pack(at.pack.string(), contents);
}

void unpack_all(const Places& at) {
  const auto pack = Pack::open(at.pack.string());
  if (const auto* opened = std::get_if<Pack>(&pack)) (void)unpack(*opened, at.root.string());
}

// Whatever a process does to a cache, each beginning somewhere else, until it is killed.
void use_for_ever(const Places& at, int first) {
  StoreOptions options = options_at(at.root);
  options.max_bytes = 40 * 20480;
  Store store(options);
  for (int i = first;; ++i) {
    const int which = (7 * i) % kKeys;
    const fs::path file = entry_file(at.root, key_of(which));
    std::error_code ignored;
    const auto found = store.find(key_of(which));
    if (found && found->cubin != cubin_of(which)) ::_exit(1);
    if (!found) (void)store.put(key_of(which), cubin_of(which), "op", "s");
    // So that there is always something to put, and something to evict.
    if (i % 8 == 7) fs::remove(file, ignored);
    if (i % 16 == 11)
      fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1), ignored);
    if (i % 16 == 3) pack_all(at, store);
    if (i % 16 == 9) unpack_all(at);
    if (i % 16 == 15) (void)sign_pack(at.pack.string(), at.key.string());
    if (i % 32 == 23) (void)store.gc();
    if (i % 32 == 29) store.quarantine(key_of(which), "a test");
    if (i % 16 == 5) store.remember_failure(key_of(which), "log");
    if (i % 16 == 13) (void)store.statistics(i % 64 == 13);
  }
}

// The pack is whole at every moment: what it was, or what it became.
void check_pack(const Places& at) {
  const auto opened = Pack::open(at.pack.string());
  if (const auto* problem = std::get_if<Problem>(&opened)) FAIL(problem->text);
  const Pack& pack = std::get<Pack>(opened);
  for (const VerifyProblem& problem : pack.verify()) FAIL(problem.path << ": " << problem.reason);
}

void check_cache(const Places& at) {
  fs::remove_all(at.root / "v1/bad");  // what the children put there on purpose
  Store store(options_at(at.root));
  std::int64_t checked = 0;
  for (const VerifyProblem& problem : store.verify(checked))
    FAIL(problem.path << ": " << problem.reason);
  CHECK(checked > 0);
  for (int which = 0; which < kKeys; ++which) {
    const auto found = store.find(key_of(which));
    if (found) CHECK(found->cubin == cubin_of(which));
    CHECK(store.put(key_of(which), cubin_of(which), "op", "s") != PutResult::not_kept);
  }
  CHECK(store.counters().bad == 0);
  CHECK(store.gc().ran);
}

std::vector<fs::path> temporaries(const Places& at) {
  std::vector<fs::path> files;
  for (const auto& item : fs::directory_iterator(at.root / "v1/tmp")) files.push_back(item.path());
  for (const auto& item : fs::directory_iterator(at.pack.parent_path())) {
    if (item.path().extension() == ".tmp") files.push_back(item.path());
  }
  return files;
}

// What the dead left is young, and goes when it is not.
void check_sweep(const Places& at) {
  for (const fs::path& file : temporaries(at))
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));
  Store store(options_at(at.root));
  (void)store.put(make_test_key("sweeps"), make_test_cubin(100), "op", "s");
  pack_all(at, store);
  for (const fs::path& file : temporaries(at)) FAIL_CHECK(file << " was not swept");
}

TEST_CASE("a process killed in the middle of anything, many times, leaves nothing bad",
          "[cache][pack]") {
  const TemporaryFolder folder;
  const Places at{folder / "root", folder / "packs/p.kpack", folder / "key"};
  fs::create_directory(folder / "packs");
  REQUIRE(std::holds_alternative<std::string>(make_key_pair(at.key.string())));
  {
    Store store(options_at(at.root));
    REQUIRE(store.put(key_of(0), cubin_of(0), "op", "s") == PutResult::stored);
    pack_all(at, store);
  }
  const int rounds = soaking() ? 2000 : 100;
  std::mt19937 random(3);
  for (int round = 0; round < rounds; ++round) {
    // Two at once, so that one is killed in the other's way.
    std::array<pid_t, 2> children{};
    for (std::size_t i = 0; i < children.size(); ++i) {
      children[i] = fork_child([&] {
        use_for_ever(at, 11 * (2 * round + static_cast<int>(i)));
        return 0;
      });
    }
    for (const pid_t child : children) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 9000));
      REQUIRE(::kill(child, SIGKILL) == 0);
      REQUIRE(wait_for(child) == 1000 + SIGKILL);
    }
    check_pack(at);
  }
  check_cache(at);
  check_sweep(at);
}

}  // namespace
}  // namespace kiln::cache
