// Whatever is found in place of an entry is a miss, and is moved aside.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>

#include "cache/quarantine.hpp"
#include "cache/store.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using kiln::testing::contains;
using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

TEST_CASE("every truncation and every flipped bit of an entry is a miss and is quarantined",
          "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  REQUIRE(store.put(key, make_test_cubin(16), "o", "s") == PutResult::stored);
  const fs::path file = entry_file(folder / "root", key);
  const std::string good = read_file(file);
  std::uint64_t damaged = 0;
  const auto must_miss = [&](const std::string& bytes) {
    write_file(file, bytes);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    ++damaged;
    const bool missed =
        !store.find(key) && !fs::exists(file) && store.counters().quarantined == damaged;
    if (!missed) FAIL("damage " << damaged << " of " << bytes.size() << " bytes was not noticed");
  };
  for (std::size_t size = 0; size < good.size(); ++size) must_miss(good.substr(0, size));
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bytes = good;
    bytes[bit / 8] =
        static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ (1U << (bit % 8)));
    must_miss(bytes);
  }
  CHECK(store.counters().bad == damaged);
  CHECK(count_in(folder / "root/v1/bad") <= kMaxQuarantined);
  CHECK(store.put(key, make_test_cubin(16), "o", "s") == PutResult::stored);
  CHECK(read_file(file) == good);
}

TEST_CASE("an entry under another key's name is a miss and is quarantined", "[cache]") {
  const TemporaryFolder folder;
  Recorder log;
  Store store(options_at(folder / "root", log));
  const Key right = make_test_key("a");
  const Key wrong = make_test_key("b");
  REQUIRE(store.put(right, make_test_cubin(10), "op", "s") == PutResult::stored);
  const fs::path planted = entry_file(folder / "root", wrong);
  fs::create_directories(planted.parent_path());
  fs::copy_file(entry_file(folder / "root", right), planted);
  CHECK_FALSE(store.find(wrong));
  CHECK(store.counters().quarantined == 1);
  CHECK_FALSE(fs::exists(planted));
  CHECK(store.find(right));
  CHECK_THAT(log.text(), contains("another key"));
}

TEST_CASE("folders, FIFOs, sockets, links and loops in place of an entry are misses", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  REQUIRE(store.put(key, make_test_cubin(10), "op", "s") == PutResult::stored);
  const fs::path file = entry_file(folder / "root", key);
  const fs::path elsewhere = folder / "elsewhere";
  fs::copy_file(file, elsewhere);
  const auto plant_socket = [&] {
    // A socket's name is short: the folder is entered.
    const fs::path before = fs::current_path();
    fs::current_path(file.parent_path());
    struct sockaddr_un address {};
    address.sun_family = AF_UNIX;
    file.filename().string().copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const int bound =
        ::bind(fd, reinterpret_cast<const struct sockaddr*>(&address), sizeof address);
    ::close(fd);
    fs::current_path(before);
    REQUIRE(bound == 0);
  };
  const std::vector<std::function<void()>> plants = {
      [&] { fs::create_directory(file); },
      [&] {
        fs::create_directory(file);
        write_file(file / "inside", "x");
      },
      [&] { REQUIRE(::mkfifo(file.c_str(), 0600) == 0); },
      plant_socket,
      [&] { fs::create_symlink(elsewhere, file); },
      [&] { fs::create_symlink("/nowhere", file); },
      [&] { fs::create_symlink(file.filename(), file); },
      [&] { fs::create_hard_link(elsewhere, file); },
  };
  std::uint64_t planted = 0;
  for (const auto& plant : plants) {
    fs::remove_all(file);
    plant();
    ++planted;
    INFO("plant " << planted);
    CHECK_FALSE(store.find(key));
    CHECK(store.counters().quarantined == planted);
    CHECK(store.put(key, make_test_cubin(10), "op", "s") == PutResult::stored);
    CHECK(store.find(key));
  }
}

TEST_CASE("a link or a file in place of a fan-out folder is moved aside", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  const fs::path fan_out = entry_file(folder / "root", key).parent_path();
  fs::create_directories(folder / "elsewhere");
  REQUIRE(store.put(key, make_test_cubin(10), "op", "s") == PutResult::stored);
  fs::remove_all(fan_out);
  fs::create_directory_symlink(folder / "elsewhere", fan_out);
  CHECK_FALSE(store.find(key));
  CHECK(store.counters().quarantined == 1);
  CHECK(store.put(key, make_test_cubin(10), "op", "s") == PutResult::stored);
  CHECK(count_in(folder / "elsewhere") == 0);
  fs::remove_all(fan_out);
  write_file(fan_out, "x");
  CHECK_FALSE(store.find(key));
  CHECK(store.put(key, make_test_cubin(10), "op", "s") == PutResult::stored);
}

TEST_CASE("quarantine keeps at most a few dozen things, and nothing that a folder holds is deleted",
          "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  const fs::path file = entry_file(folder / "root", key);
  fs::create_directories(file / "kept");
  fs::permissions(folder / "root", fs::perms::owner_all);
  CHECK_FALSE(store.find(key));
  for (int i = 0; i < 3 * kMaxQuarantined; ++i) {
    REQUIRE(store.put(key, make_test_cubin(10), "op", "s") == PutResult::stored);
    store.quarantine(key, "the driver refuses it");
    CHECK_FALSE(store.find(key));
  }
  CHECK(store.counters().quarantined == 1 + 3 * kMaxQuarantined);
  CHECK(count_in(folder / "root/v1/bad") == kMaxQuarantined);
  const auto in_bad = fs::directory_iterator(folder / "root/v1/bad");
  CHECK(std::any_of(begin(in_bad), end(in_bad), [](const auto& item) {
    return fs::exists(item.path() / "kept");
  }));
}

}  // namespace
}  // namespace kiln::cache
