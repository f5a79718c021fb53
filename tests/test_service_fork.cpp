// A process that forks while a thread compiles: the child must come back with a kernel, and the
// parent must not notice.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <kiln/service.hpp>

#include "src/service/fork_mark.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

// The five seconds are for an idle machine; a hang lasts for ever.
constexpr unsigned kMostSeconds = 60;

struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "kiln-fork-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

Options options_with(const std::string& cache) {
  Options options;
  options.policy = Policy::from_env();
  options.policy.cache_dir = cache;
  options.policy.cache_dir_reason = cache.empty() ? "a test without one" : "";
  options.policy.cache_layers = {};
  options.log = [](LogLevel, std::string_view) {};
  return options;
}

Signature width(int n) {
  return Signature::parse("rms_norm_backward:x=f32,w=none,n=" + std::to_string(n));
}

const Arch kHopper{9, 0, 'a'};

// 0: fused kernels, compiled; otherwise the number of what went wrong.
int child(Service& service) {
  ::alarm(kMostSeconds);
  try {
    // The one that the parent is compiling, and one that nobody asked for yet.
    for (const int n : {64, 96}) {
      const Plan plan = service.prepare(width(n), kHopper).plan();
      if (plan.route != Route::fused) return 2;
      if (plan.stages.at(0).origin != Origin::compiled) return 3;
    }
    return service.statistics().compiles == 2 ? 0 : 4;
  } catch (...) {
    return 5;
  }
}

TEST_CASE("a child forked while a thread of its parent compiles gets its kernels") {
  Service service(options_with(""));
  std::thread compiling([&] { (void)service.prepare(width(64), kHopper); });
  while (service.statistics().compiles == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) ::_exit(child(service));
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  compiling.join();
  CAPTURE(status);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(service.prepare(width(64), kHopper).plan().route == Route::fused);
  CHECK(service.statistics().compiles == 1);
}

TEST_CASE("what a forked child compiles has the bytes that its parent would make") {
  const Folder folder;
  Service own(options_with((folder.path / "own").string()));
  (void)own.prepare(width(64), kHopper);
  Service service(options_with((folder.path / "child").string()));
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::alarm(kMostSeconds);
    int code = 5;
    try {
      code = service.prepare(width(64), kHopper).plan().route == Route::fused ? 0 : 2;
    } catch (...) {
    }
    ::_exit(code);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(status == 0);
  // The same entry, name and bytes.
  const std::string difference = "diff -r '" + (folder.path / "own/v1/e").string() + "' '" +
                                 (folder.path / "child/v1/e").string() + "'";
  CHECK(std::system(difference.c_str()) == 0);
}

TEST_CASE("a fork is seen by the child alone, and settled once") {
  ForkMark mark;
  CHECK_FALSE(mark.forked());
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    const bool seen = mark.forked() && mark.claim();
    mark.settle();
    ::_exit(seen && !mark.forked() && !mark.claim() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
  CHECK_FALSE(mark.forked());
}

}  // namespace
}  // namespace kiln
