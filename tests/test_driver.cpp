// Loading the driver: what is asked of it, and what is said when it is missing, old or broken.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kiln/error.hpp>

#include "src/cuda/driver.hpp"
#include "src/cuda/module.hpp"
#include "tests/cuda_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using testing::contains;
using testing::TempFolder;

// Sets a variable that the fake driver reads, for a scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  Variable(Variable&&) = delete;
  Variable& operator=(Variable&&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

std::pair<ErrorCode, std::string> failure_of(const std::string& path) {
  try {
    (void)Driver::load_from(path);
  } catch (const Error& error) {
    return {error.code, error.detail};
  }
  return {ErrorCode::internal, "it loaded"};
}

TEST_CASE("a machine without a driver gets an error that says what to do", "[driver]") {
  const auto [code, detail] = failure_of("libcuda-of-nobody.so.1");
  CHECK(code == ErrorCode::driver_missing);
  CHECK_THAT(detail, contains("libcuda-of-nobody.so.1"));
  CHECK_THAT(detail, contains("Install NVIDIA's driver 580 or newer"));
  CHECK_THAT(detail, contains("kiln warm"));
}

TEST_CASE("a library that is no driver, or one from before CUDA 12, is named", "[driver]") {
  const auto [code, detail] = failure_of("libm.so.6");
  CHECK(code == ErrorCode::driver_missing);
  CHECK_THAT(detail, contains("no cuGetProcAddress_v2, so it is older than CUDA 12"));
}

TEST_CASE("every driver function is asked for with one fixed ABI version and the legacy stream",
          "[driver]") {
  const TempFolder folder;
  const std::string log = (folder.path() / "log").string();
  const Variable variable("FAKE_CUDA_LOG", log);
  const Driver driver = Driver::load_from(KILN_FAKE_LIBCUDA);
  CHECK(driver.launch != nullptr);
  CHECK(driver.release().allowed());
  const std::string asked = testing::read_bytes(log);
  CHECK_THAT(asked, contains("cuLaunchKernelEx 12080 1\n"));
  CHECK_THAT(asked, contains("cuMemAlloc 12080 1\n"));
  // The base names: the version chooses the ABI, a suffix would fix it twice.
  CHECK(asked.find("_v") == std::string::npos);
}

TEST_CASE("a driver that lacks a function is too old, and the function is named", "[driver]") {
  const Variable variable("FAKE_CUDA_WITHOUT", "cuLibraryLoadData");
  const auto [code, detail] = failure_of(KILN_FAKE_LIBCUDA);
  CHECK(code == ErrorCode::driver_missing);
  CHECK_THAT(detail, contains("cuLibraryLoadData"));
}

TEST_CASE("a driver that does not start says why and what to do", "[driver]") {
  const std::vector<std::tuple<const char*, ErrorCode, const char*>> cases{
      {"100", ErrorCode::device_missing, "CUDA_VISIBLE_DEVICES"},
      {"34", ErrorCode::driver_error, "stub"},
      {"803", ErrorCode::driver_error, "reboot"},
      {"999", ErrorCode::driver_error, "CUDA_ERROR_FAKE (999)"},
  };
  for (const auto& [result, expected, piece] : cases) {
    const Variable variable("FAKE_CUDA_INIT", result);
    const auto [code, detail] = failure_of(KILN_FAKE_LIBCUDA);
    CHECK(code == expected);
    CHECK_THAT(detail, contains(piece));
  }
}

TEST_CASE("results are described by name, number and sentence", "[driver]") {
  Driver driver;
  CHECK(driver.describe(200) == "CUDA error (200)");
  driver.error_name = [](int, const char** out) { return *out = "CUDA_ERROR_INVALID_IMAGE", 0; };
  driver.error_string = [](int, const char** out) {
    return *out = "device kernel image is invalid", 0;
  };
  CHECK(driver.describe(200) == "CUDA_ERROR_INVALID_IMAGE (200): device kernel image is invalid");
  CHECK_NOTHROW(driver.check(0, "resting"));
  try {
    driver.check(719, "running a kernel");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::driver_error);
    CHECK_THAT(error.detail, contains("running a kernel: CUDA_ERROR"));
  }
  try {
    driver.check(2, "allocating");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::out_of_memory);
  }
}

// A process that keeps one module in a static object, which is destroyed while it exits, and drops
// another before.
TEST_CASE("keep a module until the process exits", "[driver][.child]") {
  struct Kept {
    Module module;
  };
  static Kept kept;  // made first, so destroyed after the driver and all it registers
  static const Driver driver = Driver::load_from(KILN_FAKE_LIBCUDA);
  const std::string ptx = ".version 8.0\n";
  const auto bytes = std::as_bytes(std::span(ptx));
  kept.module = Module(driver, bytes, "kept");
  const Module dropped(driver, bytes, "dropped");
  CHECK(kept.module);
}

TEST_CASE("modules are unloaded when dropped, but not while the process exits", "[driver]") {
  const TempFolder folder;
  const std::string log = (folder.path() / "log").string();
  const testing::ChildResult child =
      testing::run_hidden_test("keep a module until the process exits", {{"FAKE_CUDA_LOG", log}});
  INFO(child.output);
  CHECK(child.status == 0);
  const std::string notes = testing::read_bytes(log);
  const std::size_t first = notes.find("unloaded");
  REQUIRE(first != std::string::npos);
  CHECK(notes.find("unloaded", first + 1) == std::string::npos);
}

}  // namespace
}  // namespace kiln
