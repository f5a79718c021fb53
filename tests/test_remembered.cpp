// Failures that are remembered for ten minutes, and what of them is not believed.
// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/remembered.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

fs::path only_file(const fs::path& root) {
  REQUIRE(count_in(root / "v1/neg") == 1);
  return fs::directory_iterator(root / "v1/neg")->path();
}

void set_age(const fs::path& file, std::int64_t seconds) {
  const std::time_t then = std::time(nullptr) - seconds;
  const std::array<timespec, 2> times = {{{0, 0}, {then, 0}}};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0) == 0);
}

TEST_CASE("a failed compile is remembered with its log, by exactly its key", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  CHECK_FALSE(store.failure(key));
  store.remember_failure(key, "line 3: error");
  Store other(options_at(folder / "root"));
  const auto known = other.failure(key);
  REQUIRE(known);
  CHECK(known->log == "line 3: error");
  CHECK(known->left > std::chrono::seconds(590));
  CHECK(other.counters().remembered_failures == 1);
  CHECK_FALSE(other.failure(make_test_key("b")));
  CHECK_FALSE(other.failure(make_test_key("a", "13.1")));
  CHECK_FALSE(other.refusal(key, "13000"));
  CHECK(mode_of(folder / "root/v1/neg") == 0700);
  CHECK(mode_of(only_file(folder / "root")) == 0600);
  other.remember_failure(key, "another");
  CHECK(store.failure(key)->log == "another");
}

TEST_CASE("a refused load is remembered by digest and driver", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  store.remember_refusal(key, "13000", "error 209");
  REQUIRE(store.refusal(key, "13000"));
  CHECK(store.refusal(key, "13000")->log == "error 209");
  CHECK_FALSE(store.refusal(key, "13010"));
  CHECK_FALSE(store.refusal(make_test_key("b"), "13000"));
  CHECK_FALSE(store.failure(key));
}

TEST_CASE("after ten minutes, or with a time in the future, a failure is forgotten", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  store.remember_failure(key, "log");
  const fs::path file = only_file(folder / "root");
  set_age(file, 9 * 60);
  CHECK(store.failure(key));
  for (const std::int64_t age : {11 * 60, 3 * 86400, -60, -3 * 86400}) {
    set_age(file, age);
    CHECK_FALSE(store.failure(key));
  }
  (void)store.gc();
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("any damage to a remembered failure makes it none", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  store.remember_failure(key, "the log");
  const fs::path file = only_file(folder / "root");
  const std::string right = read_file(file);
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::string wrong = right;
    wrong[i] = static_cast<char>(wrong[i] ^ 1);
    write_file(file, wrong);
    CHECK_FALSE(store.failure(key));
    write_file(file, right.substr(0, i));
    CHECK_FALSE(store.failure(key));
  }
  write_file(file, right);
  CHECK(store.failure(key));
  const Digest other = digest(make_test_key("b"));
  fs::rename(file, file.parent_path() / failure_name(other));
  CHECK_FALSE(store.failure(make_test_key("b")));
}

TEST_CASE("what stands in the place of neg or of a failure is not followed", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  Store store(options_at(root));
  const Key key = make_test_key("a");
  store.remember_failure(key, "log");
  const fs::path file = only_file(root);
  fs::rename(file, folder / "moved");
  fs::create_symlink(folder / "moved", file);
  CHECK_FALSE(store.failure(key));
  fs::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  CHECK_FALSE(store.failure(key));
  fs::remove_all(root / "v1/neg");
  write_file(root / "v1/neg", "x");
  store.remember_failure(key, "log");
  CHECK_FALSE(store.failure(key));
  CHECK(count_in(root / "v1/tmp") == 0);
}

TEST_CASE("a log without end is cut", "[cache]") {
  const TemporaryFolder folder;
  Store store(options_at(folder / "root"));
  const Key key = make_test_key("a");
  store.remember_failure(key, std::string(1 << 20, 'x'));
  REQUIRE(store.failure(key));
  CHECK(store.failure(key)->log.size() == kMaxRememberedLog);
}

}  // namespace
}  // namespace kiln::cache
