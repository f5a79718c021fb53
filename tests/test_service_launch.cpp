// Binding, running, re-binding and cloning launches on a fake driver.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <functional>
#include <new>
#include <string>

#include "tests/fakes/allocations.hpp"
#include "tests/fakes/fake_service.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using fakes::allocations_of;
using fakes::fake_arguments;
using fakes::fake_signature;
using fakes::FakeParameters;
using fakes::FakeWorld;
using fakes::Folder;
using fakes::RecordedLaunch;

auto* const kStream = reinterpret_cast<CUstream_st*>(0x5);
void* const kX = reinterpret_cast<void*>(0x10000);
void* const kY = reinterpret_cast<void*>(0x20000);
void* const kZ = reinterpret_cast<void*>(0x30000);

FakeParameters parameters_of(const RecordedLaunch& launch) {
  FakeParameters parameters{};
  std::memcpy(&parameters, launch.parameters.data(), sizeof parameters);
  return parameters;
}

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code;
  }
  return ErrorCode::internal;
}

struct Bench {
  Folder folder;
  FakeWorld world{folder.path.string()};
  Service service = world.service();
  Prepared prepared = service.prepare(fake_signature(8), service.device(0));
};

TEST_CASE("a launch passes its arguments, memory and shape to the driver") {
  Bench bench;
  const Launch launch = bench.prepared.bind(fake_arguments(kX, kY, 7));
  CHECK(launch.kernel_count() == 1);
  launch.run(kStream);
  REQUIRE(bench.world.gpu.launches.size() == 1);
  const RecordedLaunch& recorded = bench.world.gpu.launches[0];
  CHECK(recorded.stream == kStream);
  CHECK(recorded.grid == std::array<unsigned, 3>{7, 1, 1});
  CHECK(recorded.threads == 128);
  CHECK(recorded.smem_bytes == 64 * 1024);
  const FakeParameters parameters = parameters_of(recorded);
  CHECK(parameters.x == kX);
  CHECK(parameters.y == kY);
  CHECK(parameters.rows == 7);
  CHECK(parameters.sm_count == 132);
  CHECK(parameters.ctas_per_sm == 2);
  CHECK(reinterpret_cast<std::uintptr_t>(parameters.workspace) % 256 == 0);
  const auto* counters = static_cast<const unsigned char*>(parameters.counters);
  for (std::int64_t i = 0; i < kCounterBytes; ++i) REQUIRE(counters[i] == 0);
}

TEST_CASE("running and preparing again allocate nothing, and running waits for nothing") {
  Bench bench;
  const Device device = bench.service.device(0);
  const Signature signature = fake_signature(8);
  const Launch launch = bench.prepared.bind(fake_arguments(kX, kY, 7));
  const int synchronisations = bench.world.gpu.synchronisations;
  CUctx_st* context = nullptr;
  const auto driver = bench.world.gpu.driver();
  REQUIRE(driver->primary_retain(&context, 0) == 0);
  REQUIRE(driver->context_push(context) == 0);  // as in a program that uses the device
  CHECK(allocations_of([&] {
          for (int i = 0; i < 100; ++i) launch.run(kStream);
        }) == 0);
  REQUIRE(driver->context_pop(&context) == 0);
  CHECK(bench.world.gpu.launches.size() == 100);
  CHECK(bench.world.gpu.synchronisations == synchronisations);
  CHECK(allocations_of([&] { (void)bench.service.prepare(signature, device); }) == 0);
  // The counter counts. Called by name: an optimiser may leave out what new and delete would call.
  CHECK(allocations_of([] { ::operator delete(::operator new(1)); }) == 1);
}

TEST_CASE("re-binding allocates nothing and takes effect") {
  Bench bench;
  Launch launch = bench.prepared.bind(fake_arguments(kX, kY, 7));
  const Arguments arguments = fake_arguments(kX, kZ, 9);
  CHECK(allocations_of([&] { launch.rebind(arguments); }) == 0);
  launch.run(kStream);
  const RecordedLaunch& recorded = bench.world.gpu.launches.back();
  CHECK(recorded.grid[0] == 9);
  CHECK(parameters_of(recorded).y == kZ);
}

TEST_CASE("a re-bind that fails leaves the launch and its clones as they were") {
  Bench bench;
  Launch launch = bench.prepared.bind(fake_arguments(kX, kY, 7));
  CHECK(code_of([&] { launch.rebind(fake_arguments(kX, nullptr, 9)); }) ==
        ErrorCode::invalid_argument);
  Arguments long_name = fake_arguments(kX, kY, 9);
  const std::string name(100, 'a');
  long_name.add(vector(name, kZ, DType::f32, 4));
  CHECK(code_of([&] { launch.rebind(long_name); }) == ErrorCode::invalid_argument);
  CHECK(launch.kernel_count() == 1);
  launch.run(kStream);
  launch.clone().run(kStream);
  for (const RecordedLaunch& recorded : bench.world.gpu.launches) {
    CHECK(recorded.grid[0] == 7);
    CHECK(parameters_of(recorded).y == kY);
  }
  launch.rebind(fake_arguments(kX, kZ, 3));
  launch.run(kStream);
  CHECK(parameters_of(bench.world.gpu.launches.back()).y == kZ);
}

TEST_CASE("a clone has its own counters and workspace, and does not need the caller's names") {
  Bench bench;
  Launch launch;
  {
    std::string x_name = "x";
    Arguments arguments;
    arguments.add(matrix(x_name, kX, DType::f32, 7, 8));
    arguments.add(matrix("y", kY, DType::f32, 7, 8));
    launch = bench.prepared.bind(arguments, {.workspace = std::nullopt, .sm_limit = 66});
    x_name[0] = '?';
  }
  const Launch copy = launch.clone();
  launch.run(kStream);
  copy.run(kStream);
  const FakeParameters first = parameters_of(bench.world.gpu.launches[0]);
  const FakeParameters second = parameters_of(bench.world.gpu.launches[1]);
  CHECK(first.counters != second.counters);
  CHECK(first.workspace != second.workspace);
  CHECK(second.x == kX);
  CHECK(first.sm_count == 66);
  CHECK(second.sm_count == 66);
}

TEST_CASE("a workspace of the caller is used, and refused when it will not do") {
  Bench bench;
  const Workspace own = bench.prepared.make_workspace();
  CHECK(own.bytes == fakes::kWorkspaceBytes);
  const Launch launch = bench.prepared.bind(fake_arguments(kX, kY, 7),
                                            {.workspace = Workspace{own.data, own.bytes, {}}});
  launch.run(kStream);
  CHECK(parameters_of(bench.world.gpu.launches[0]).workspace == own.data);

  const auto refused = [&](const Workspace& workspace) {
    return code_of(
        [&] { (void)bench.prepared.bind(fake_arguments(kX, kY, 7), {.workspace = workspace}); });
  };
  CHECK(refused({own.data, own.bytes - 1, {}}) == ErrorCode::invalid_argument);
  CHECK(refused({static_cast<char*>(own.data) + 16, own.bytes, {}}) == ErrorCode::invalid_argument);
  CHECK(refused({nullptr, own.bytes, {}}) == ErrorCode::invalid_argument);
  CHECK(code_of([&] { (void)bench.prepared.bind(fake_arguments(kX, kY, 7), {.sm_limit = -1}); }) ==
        ErrorCode::invalid_argument);
}

TEST_CASE("counters of the caller are used, so that with a workspace binding allocates nothing") {
  Bench bench;
  const Workspace scratch = bench.prepared.make_workspace();
  const Workspace zeroed = bench.prepared.make_workspace();
  const BindOptions adopted{.workspace = Workspace{scratch.data, scratch.bytes, {}},
                            .counters = Workspace{zeroed.data, kCounterBytes, {}}};
  const std::size_t before = bench.world.gpu.memory.size();
  const Launch launch = bench.prepared.bind(fake_arguments(kX, kY, 7), adopted);
  CHECK(bench.world.gpu.memory.size() == before);
  launch.run(kStream);
  CHECK(parameters_of(bench.world.gpu.launches[0]).counters == zeroed.data);

  const auto refused = [&](const Workspace& counters) {
    return code_of(
        [&] { (void)bench.prepared.bind(fake_arguments(kX, kY, 7), {.counters = counters}); });
  };
  CHECK(refused({zeroed.data, kCounterBytes - 1, {}}) == ErrorCode::invalid_argument);
  CHECK(refused({static_cast<char*>(zeroed.data) + 16, kCounterBytes, {}}) ==
        ErrorCode::invalid_argument);
  CHECK(refused({nullptr, kCounterBytes, {}}) == ErrorCode::invalid_argument);
}

TEST_CASE("counters of the caller are used, and refused when they will not do") {
  Bench bench;
  const Workspace own = bench.prepared.make_workspace();
  const Launch launch = bench.prepared.bind(fake_arguments(kX, kY, 7),
                                            {.counters = Workspace{own.data, kCounterBytes, {}}});
  launch.run(kStream);
  CHECK(parameters_of(bench.world.gpu.launches[0]).counters == own.data);

  const auto refused = [&](const Workspace& counters) {
    return code_of(
        [&] { (void)bench.prepared.bind(fake_arguments(kX, kY, 7), {.counters = counters}); });
  };
  CHECK(refused({own.data, kCounterBytes - 1, {}}) == ErrorCode::invalid_argument);
  CHECK(refused({static_cast<char*>(own.data) + 16, kCounterBytes, {}}) ==
        ErrorCode::invalid_argument);
  CHECK(refused({nullptr, kCounterBytes, {}}) == ErrorCode::invalid_argument);
}

TEST_CASE("a launch runs in its device's context, whichever is current, and restores the other") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.gpu.devices = {{9, 0, 132}, {9, 0, 132}};
  Service service = world.service();
  const Launch first =
      service.prepare(fake_signature(8), service.device(0)).bind(fake_arguments(kX, kY, 7));
  const Launch second =
      service.prepare(fake_signature(8), service.device(1)).bind(fake_arguments(kX, kY, 7));
  const auto driver = world.gpu.driver();
  CUctx_st* context = nullptr;
  REQUIRE(driver->primary_retain(&context, 0) == 0);
  REQUIRE(driver->context_push(context) == 0);
  const int pushes = world.gpu.pushes;
  first.run(kStream);
  CHECK(world.gpu.pushes == pushes);
  CHECK(world.gpu.launches[0].context == context);
  second.run(kStream);
  CHECK(world.gpu.pushes == pushes + 1);
  CHECK(world.gpu.launches[1].context != context);
  CUctx_st* current = nullptr;
  REQUIRE(driver->context_pop(&current) == 0);
  CHECK(current == context);
}

TEST_CASE("a launch that the driver refuses is an error that names the kernel") {
  Bench bench;
  const Launch launch = bench.prepared.bind(fake_arguments(kX, kY, 7));
  bench.world.gpu.launch_result = 719;
  try {
    launch.run(kStream);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::driver_error);
    CHECK_THAT(error.detail, testing::contains("fake_n8"));
  }
}

TEST_CASE("an empty launch says so") {
  Launch launch;
  CHECK(launch.kernel_count() == 0);
  CHECK(code_of([&] { launch.run(kStream); }) == ErrorCode::invalid_argument);
  CHECK(code_of([&] { launch.rebind({}); }) == ErrorCode::invalid_argument);
  CHECK(code_of([&] { (void)launch.clone(); }) == ErrorCode::invalid_argument);
}

TEST_CASE("device memory is freed with the last handle, also after the service") {
  const Folder folder;
  FakeWorld world(folder.path);
  {
    Launch launch;
    {
      Service service = world.service();
      launch =
          service.prepare(fake_signature(8), service.device(0)).bind(fake_arguments(kX, kY, 7));
    }
    CHECK(world.gpu.memory.size() == 2);
    launch.run(kStream);
  }
  CHECK(world.gpu.memory.empty());
  CHECK(world.gpu.retained == 0);
}

}  // namespace
}  // namespace kiln
