// Services in several processes: one compile among them, and a warm start that does not map NVRTC.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fakes/fake_service.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using fakes::fake_signature;
using fakes::FakeWorld;
using fakes::Folder;

const Arch kHopper{9, 0, 'a'};
constexpr const char* kFolderVariable = "KILN_TEST_FOLDER";

// Exit codes of a child that ended by itself; -1 for a signal.
int wait_for(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// One line a compile, appended whole, so that every process's are counted.
void note_compile(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0 || ::write(fd, "x", 1) != 1) std::abort();
  ::close(fd);
}

int stampede_child(const fs::path& root, const fs::path& compiles, const fs::path& gate) {
  FakeWorld world(root.string());
  world.on_compile = [&](const CompileRequest&) {
    note_compile(compiles);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  };
  Service service = world.service();
  while (!fs::exists(gate)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Prepared prepared = service.prepare(fake_signature(8), service.device(0));
  return prepared.plan().route == Route::fused && prepared.plan().stages[0].registers == 32 ? 0 : 1;
}

TEST_CASE("16 processes that ask for one signature compile it once") {
  const Folder folder;
  const fs::path compiles = folder.path / "compiles";
  const fs::path gate = folder.path / "gate";
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int code = 2;
      try {
        code = stampede_child(folder.path / "cache", compiles, gate);
      } catch (...) {
      }
      ::_exit(code);
    }
    children.push_back(child);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::ofstream(gate) << "go";
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  CHECK(fs::file_size(compiles) == 1);
}

bool maps_nvrtc() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libnvrtc") != std::string::npos) return true;
  }
  return false;
}

Options real_options() {
  const char* folder = std::getenv(kFolderVariable);
  Options options;
  options.policy = Policy::from_env();
  options.policy.cache_dir = folder == nullptr ? "" : folder;
  options.policy.strict = true;
  return options;
}

// This program again, running one hidden test on the folder, with nothing mapped that this process
// has mapped.
int run_in_new_process(const std::string& test, const fs::path& folder) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv(kFolderVariable, folder.c_str(), 1);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, 1);
    ::execl("/proc/self/exe", "test_service", test.c_str(), nullptr);
    ::_exit(127);
  }
  return wait_for(child);
}

const std::string kSignature = "rms_norm_backward:n=4096";

TEST_CASE("child: a cold start compiles with NVRTC", "[.child]") {
  Service service(real_options());
  REQUIRE_FALSE(maps_nvrtc());
  const Prepared prepared = service.prepare(Signature::parse(kSignature), kHopper);
  CHECK(prepared.plan().route == Route::fused);
  CHECK(prepared.plan().stages[0].origin == Origin::compiled);
  CHECK(prepared.plan().stages[0].registers > 0);
  CHECK(service.statistics().nvrtc_loaded);
  CHECK(maps_nvrtc());
}

TEST_CASE("child: a warm start does not map NVRTC", "[.child]") {
  Service service(real_options());
  const Prepared prepared = service.prepare(Signature::parse(kSignature), kHopper);
  CHECK(prepared.plan().route == Route::fused);
  CHECK(prepared.plan().stages[0].origin == Origin::cache);
  CHECK_FALSE(service.statistics().nvrtc_loaded);
  CHECK_FALSE(maps_nvrtc());
}

TEST_CASE(
    "a real kernel is compiled by one process and found by the next, which does not load NVRTC") {
  const Folder folder;
  CHECK(run_in_new_process("child: a cold start compiles with NVRTC", folder.path) == 0);
  CHECK(run_in_new_process("child: a warm start does not map NVRTC", folder.path) == 0);
  // The children can fail: on an empty folder a warm start is none.
  const Folder empty;
  CHECK(run_in_new_process("child: a warm start does not map NVRTC", empty.path) != 0);
}

}  // namespace
}  // namespace kiln
