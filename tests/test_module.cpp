// Modules over a driver filled by hand.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kiln/error.hpp>

#include "src/cuda/module.hpp"
#include "tests/cuda_fakes/recording_driver.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using testing::contains;
using testing::handle;
using testing::record;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::pair<ErrorCode, std::string> load_failure(const Driver& driver, std::string_view image) {
  try {
    const Module module(driver, bytes_of(image), "the kernel");
  } catch (const Error& error) {
    return {error.code, error.detail};
  }
  return {ErrorCode::internal, "it loaded"};
}

TEST_CASE("a module is unloaded once, by its last owner", "[module]") {
  const Driver driver = testing::recording_driver();
  {
    Module first(driver, bytes_of("ptx"), "the kernel");
    Module second(std::move(first));
    CHECK_FALSE(first);
    Module third;
    third = std::move(second);
    CHECK(third);
    CHECK(record.unloaded.empty());
  }
  CHECK(record.unloaded == std::vector{handle<CUlib_st>(7)});
}

TEST_CASE("PTX reaches the driver zero-terminated whether it came so or not", "[module]") {
  const Driver driver = testing::recording_driver();
  const Module plain(driver, bytes_of(std::string_view("ptx text, and more").substr(0, 8)), "k");
  CHECK(record.loaded == "ptx text");
  const Module terminated(driver, bytes_of(std::string_view("text\0", 5)), "k");
  CHECK(record.loaded == "text");
}

TEST_CASE("an image the driver refuses is a load failure with the driver's log", "[module]") {
  const Driver driver = testing::recording_driver();
  for (const int result : {200, 209, 218, 222}) {
    record.load_result = result;
    const auto [code, detail] = load_failure(driver, "ptx");
    CHECK(code == ErrorCode::load_failed);
    CHECK_THAT(detail, contains("loading the kernel"));
    CHECK_THAT(detail, contains("ptxas fatal: scripted"));
  }
  CHECK(record.unloaded.empty());
}

TEST_CASE("running out of memory and losing the device are not the image's fault", "[module]") {
  const Driver driver = testing::recording_driver();
  record.load_result = 2;
  CHECK(load_failure(driver, "ptx").first == ErrorCode::out_of_memory);
  record.load_result = 719;
  CHECK(load_failure(driver, "ptx").first == ErrorCode::driver_error);
}

TEST_CASE("a damaged cubin never reaches the driver", "[module]") {
  const Driver driver = testing::recording_driver();
  const auto [code, detail] = load_failure(driver,
                                           "\x7f"
                                           "ELF and then rubbish");
  CHECK(code == ErrorCode::load_failed);
  CHECK_THAT(detail, contains("is damaged or defines no kernel"));
  CHECK(record.loaded.empty());
}

TEST_CASE("a kernel is resolved by its entry, and one that is not there is a load failure",
          "[module]") {
  const Driver driver = testing::recording_driver();
  const Module module(driver, bytes_of("ptx"), "the kernel");
  const ModuleKernel kernel = module.kernel("k");
  CHECK(kernel.kernel == handle<CUkern_st>(8));
  CHECK(kernel.function == handle<CUfunc_st>(9));
  CHECK_THROWS_WITH(module.kernel("absent"), contains("finding kernel absent in the kernel"));
  record.kernel_result = 209;
  CHECK_THROWS_WITH(module.kernel("k"), contains("load_failed"));
  record.kernel_result = 2;
  CHECK_THROWS_WITH(module.kernel("k"), contains("out_of_memory"));
  CHECK_THROWS_WITH(Module().kernel("k"), contains("empty module"));
}

TEST_CASE("shared memory is allowed per device, and occupancy asked for threads and bytes",
          "[module]") {
  const Driver driver = testing::recording_driver();
  allow_dynamic_smem(driver, handle<CUkern_st>(8), 1, 200'000);
  CHECK(record.set_attribute ==
        std::array<int, 3>{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200'000, 1});
  CHECK_THROWS_WITH(allow_dynamic_smem(driver, handle<CUkern_st>(8), 0, 300'000),
                    contains("300000 bytes"));
  CHECK(active_ctas_per_sm(driver, handle<CUfunc_st>(9), 256, 1024) == 3);
}

}  // namespace
}  // namespace kiln
