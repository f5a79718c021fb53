// main of the GPU test binaries: without a device they exit 77, which ctest shows as skipped, but
// for --list-tests, which refuses two test cases of one name.
// SPDX-License-Identifier: Apache-2.0
// Catch2 2 compiles its runner into the file that defines this; Catch2 3 has it in a library.
#define CATCH_CONFIG_RUNNER

#include <cstdio>
#include <string>
#include <string_view>

#include <kiln/error.hpp>

#include "src/cuda/driver.hpp"
#include "tests/testing.hpp"

namespace {

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE of kiln_gpu_test

// Empty when there is a device, else why there is none.
std::string why_no_device() {
  try {
    const kiln::Driver driver = kiln::Driver::load();
    int count = 0;
    driver.check(driver.device_count(&count), "counting devices");
    return count > 0 ? "" : "the driver sees no device";
  } catch (const kiln::Error& error) {
    return error.detail;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool lists = argc == 2 && std::string_view(argv[1]) == "--list-tests";
  const std::string reason = lists ? "" : why_no_device();
  if (!reason.empty()) {
    std::printf("skipped, no GPU: %s\n", reason.c_str());
    return kSkipped;
  }
  return Catch::Session().run(argc, argv);
}
