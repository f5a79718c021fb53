// Launches, devices and contexts over a driver filled by hand.
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <string>
#include <utility>
#include <vector>

#include "src/cuda/device.hpp"
#include "src/cuda/launch.hpp"
#include "tests/cuda_fakes/recording_driver.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using testing::contains;
using testing::handle;
using testing::record;

TEST_CASE("a launch carries its shape, stream, attributes and parameters", "[launch]") {
  const Driver driver = testing::recording_driver();
  const LaunchShape shape{.grid = {8, 2, 3},
                          .threads = 256,
                          .cluster_ctas = 4,
                          .cooperative = true,
                          .smem_bytes = 4096};
  const PackedLaunch original(driver, handle<CUfunc_st>(9), shape);
  const PackedLaunch copy = original;
  const int parameter = 42;
  CHECK(copy.run(handle<CUstream_st>(6), &parameter) == 0);
  CHECK(record.config.gridDimX == 8);
  CHECK(record.config.gridDimY == 2);
  CHECK(record.config.gridDimZ == 3);
  CHECK(record.config.blockDimX == 256);
  CHECK(record.config.blockDimY == 1);
  CHECK(record.config.blockDimZ == 1);
  CHECK(record.config.sharedMemBytes == 4096);
  CHECK(record.config.hStream == handle<CUstream_st>(6));
  CHECK(record.parameter == 42);
  REQUIRE(record.attributes.size() == 2);
  CHECK(record.attributes[0].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  CHECK(record.attributes[0].value.cooperative == 1);
  CHECK(record.attributes[1].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  CHECK(record.attributes[1].value.clusterDim.x == 4);
  CHECK(record.attributes[1].value.clusterDim.y == 1);
}

TEST_CASE("a plain launch has no attributes, and a refused one throws", "[launch]") {
  const Driver driver = testing::recording_driver();
  const int parameter = 1;
  launch(driver, handle<CUfunc_st>(9), {.grid = {1, 1, 1}, .threads = 32}, nullptr, &parameter);
  CHECK(record.attributes.empty());
  record.launch_result = 701;
  CHECK_THROWS_WITH(
      launch(driver, handle<CUfunc_st>(9), {.grid = {1, 1, 1}, .threads = 32}, nullptr, &parameter),
      contains("launching a kernel"));
}

TEST_CASE("a shape no device accepts is refused before the driver sees it", "[launch]") {
  const Driver driver = testing::recording_driver();
  const std::vector<LaunchShape> shapes{
      {.grid = {1, 1, 1}, .threads = 0},
      {.grid = {1, 1, 1}, .threads = 1025},
      {.grid = {0, 1, 1}, .threads = 32},
      {.grid = {1, 65536, 1}, .threads = 32},
      {.grid = {3, 1, 1}, .threads = 32, .cluster_ctas = 2},
      {.grid = {2, 1, 1}, .threads = 32, .cluster_ctas = 0},
      {.grid = {1, 1, 1}, .threads = 32, .smem_bytes = -1},
  };
  for (const LaunchShape& shape : shapes) {
    CHECK_THROWS_WITH(PackedLaunch(driver, handle<CUfunc_st>(9), shape),
                      contains("no device launches"));
  }
}

TEST_CASE("a context is pushed only when another one is current, and popped as often", "[device]") {
  const Driver driver = testing::recording_driver();
  record.current = handle<CUctx_st>(5);
  { const ContextGuard same(driver, handle<CUctx_st>(5)); }
  CHECK(record.contexts.empty());
  { const ContextGuard other(driver, handle<CUctx_st>(6)); }
  CHECK(record.contexts == std::vector<std::string>{"push", "pop"});
}

TEST_CASE("a primary context is retained and released once", "[device]") {
  const Driver driver = testing::recording_driver();
  {
    PrimaryContext first(driver, 1);
    const PrimaryContext second(std::move(first));
    CHECK(first.get() == nullptr);
    CHECK(second.get() == handle<CUctx_st>(5));
  }
  CHECK(record.contexts == std::vector<std::string>{"retain", "release"});
}

TEST_CASE("a device that is not there is an error that says how many there are", "[device]") {
  const Driver driver = testing::recording_driver();
  CHECK_THROWS_WITH(device_properties(driver, 2),
                    contains("there is no device 2: the driver sees 2"));
  CHECK_THROWS_WITH(PrimaryContext(driver, -1), contains("device_missing"));
}

TEST_CASE("limits read off a device are the table's", "[device]") {
  const Driver driver = testing::recording_driver();
  // As an H200 reports them.
  record.device_attributes = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
  };
  const std::vector<DeviceProperties> devices = enumerate_devices(driver);
  REQUIRE(devices.size() == 2);
  CHECK(devices[1].ordinal == 1);
  CHECK(devices[1].name == "Fake H200");
  CHECK(devices[1].sm_count == 132);
  DeviceLimits limits = devices[1].limits;
  limits.origin = limits_of({9, 0, 'a'}).origin;
  CHECK(limits == limits_of({9, 0, 'a'}));
}

}  // namespace
}  // namespace kiln
