// Children that are forked while threads of their parent use the same store, and little memory.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include <sys/resource.h>

#include "cache/store.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/pack_fixtures.hpp"
#include "tests/sanitizers.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

// As PyTorch's data loaders are made: no lock of the parent's threads may stop the child.
TEST_CASE("a child forked while threads use a store finds what they find", "[cache]") {
  if (kiln::testing::kAddressSanitizer) {
    WARN("the sanitizer's allocator keeps locks of the parent's threads in a child");
    return;
  }
  const TemporaryFolder folder;
  const fs::path pack = make_pack(folder, 3);
  StoreOptions options = options_at(folder / "root");
  options.layers = {pack.string()};
  options.log = Recorder();
  const Key key = make_test_key("a");
  Store store(options);
  REQUIRE(store.put(key, make_test_cubin(3000), "op", "s") == PutResult::stored);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        (void)store.find(key);
        (void)store.find(make_test_key("source 1"));
        (void)store.find(make_test_key("absent"));
      }
    });
  }
  int wrong = 0;
  for (int round = 0; round < (soaking() ? 2000 : 100) && wrong == 0; ++round) {
    wrong = in_child([&] {
      ::alarm(20);
      for (int i = 0; i < 3; ++i) {
        const auto found = store.find(key);
        if (!found || found->cubin != make_test_cubin(3000)) return 1;
        if (!store.find(make_test_key("source 1"))) return 2;
        if (store.find(make_test_key("absent"))) return 3;
      }
      return 0;
    });
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("without memory for what is there a find is a miss, and the entry stays", "[cache]") {
  if (kiln::testing::kAddressSanitizer || kiln::testing::kThreadSanitizer) {
    WARN("a sanitizer needs the address space that is taken away here");
    return;
  }
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const Key key = make_test_key("a");
  Store(options_at(root)).put(key, make_test_cubin(100), "op", "s");
  fs::resize_file(entry_file(root, key), 90 << 20U);  // sparse
  CHECK(in_child([&] {
          Store store(options_at(root));
          const rlimit little{64 << 20U, 64 << 20U};
          if (::setrlimit(RLIMIT_DATA, &little) != 0) return 1;
          if (store.find(key)) return 2;
          return store.counters().unreadable == 1 && store.counters().quarantined == 0 ? 0 : 3;
        }) == 0);
  CHECK(fs::exists(entry_file(root, key)));
}

}  // namespace
}  // namespace kiln::cache
