// The in-memory maps: what is made once, who waits for whom, and what a plan says afterwards.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/fakes/fake_service.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using fakes::fake_signature;
using fakes::FakeWorld;
using fakes::Folder;

const Arch kHopper{9, 0, 'a'};

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code;
  }
  return ErrorCode::internal;
}

TEST_CASE("a prepared signature is compiled once, loaded, and says where it came from") {
  const Folder folder;
  FakeWorld world(folder.path);
  Service service = world.service();
  const Device device = service.device(0);
  CHECK(device.arch == kHopper);
  CHECK(device.sm_count == 132);

  const Prepared prepared = service.prepare(fake_signature(8), device);
  REQUIRE(prepared.plan().stages.size() == 1);
  const StagePlan& stage = prepared.plan().stages[0];
  CHECK(prepared.plan().route == Route::fused);
  CHECK(stage.origin == Origin::compiled);
  CHECK(stage.compile_ms == 12.5);
  CHECK(stage.registers == 32);
  CHECK(stage.spill_bytes == 0);
  CHECK(stage.static_smem_bytes == 48);
  CHECK(stage.digest.size() == 64);
  CHECK(world.gpu.loaded == std::vector<std::string>{"cubin 1"});
  CHECK(world.gpu.allowed_smem == std::vector<int>{64 * 1024});

  const Prepared again = service.prepare(fake_signature(8), device);
  CHECK(again.plan().stages[0].origin == Origin::memory);
  CHECK(again.plan().stages[0].registers == 32);
  CHECK(world.compiles == 1);
  CHECK(world.gpu.loaded.size() == 1);
  const Statistics statistics = service.statistics();
  CHECK(statistics.memory_hits == 1);
  CHECK(statistics.compiles == 1);
  CHECK(statistics.cache_hits == 0);
  CHECK(statistics.nvrtc_loaded);
}

TEST_CASE("preparing for an architecture needs no driver and loads nothing") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.driver_present = false;
  Service service = world.service();
  const Prepared prepared = service.prepare(fake_signature(8), kHopper);
  CHECK(prepared.plan().stages[0].origin == Origin::compiled);
  CHECK(prepared.device().ordinal == -1);
  CHECK(prepared.device().arch == kHopper);
  CHECK(world.gpu.loaded.empty());
  CHECK(code_of([&] { (void)prepared.bind({}); }) == ErrorCode::invalid_argument);
  CHECK(code_of([&] { (void)prepared.make_workspace(); }) == ErrorCode::invalid_argument);
  CHECK(code_of([&] { (void)service.device(0); }) == ErrorCode::driver_missing);
  CHECK(code_of([&] {
          (void)service.prepare(fake_signature(8), Arch{7, 5, '\0'});
        }) == ErrorCode::unknown_arch);
}

TEST_CASE("an architecture's and a device's kernel of one digest are one compile") {
  const Folder folder;
  FakeWorld world(folder.path);
  Service service = world.service();
  (void)service.prepare(fake_signature(8), kHopper);
  const Prepared prepared = service.prepare(fake_signature(8), service.device(0));
  CHECK(prepared.plan().stages[0].origin == Origin::memory);
  CHECK(world.compiles == 1);
  CHECK(world.gpu.loaded.size() == 1);
}

TEST_CASE("two signatures with one source share a compile and a load") {
  const Folder folder;
  FakeWorld world(folder.path);
  Service service = world.service();
  const Device device = service.device(0);
  (void)service.prepare(fake_signature(8, 1), device);
  const Prepared second = service.prepare(fake_signature(8, 2), device);
  CHECK(second.plan().signature == fake_signature(8, 2));
  CHECK(second.plan().stages[0].origin == Origin::memory);
  CHECK(world.compiles == 1);
  CHECK(world.gpu.loaded.size() == 1);
}

TEST_CASE("64 threads that ask for one signature compile it once") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.on_compile = [](const CompileRequest&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  Service service = world.service();
  const Device device = service.device(0);
  std::atomic<int> ready{0};
  std::atomic<int> fused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&] {
      for (++ready; ready < 64;) std::this_thread::yield();
      const Prepared prepared = service.prepare(fake_signature(8), device);
      if (prepared.plan().route == Route::fused && prepared.plan().stages[0].registers == 32)
        ++fused;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(fused == 64);
  CHECK(world.compiles == 1);
  CHECK(world.gpu.loaded.size() == 1);
  CHECK(world.nvrtc_loads_done == 1);
  CHECK(service.statistics().compiles == 1);
  CHECK(service.statistics().memory_hits == 63);
}

TEST_CASE("a signature does not wait for another's compile") {
  const Folder folder;
  FakeWorld world(folder.path);
  std::promise<void> started;
  std::promise<void> release;
  world.on_compile = [&, gate = release.get_future().share()](const CompileRequest& request) {
    if (request.closure.source.entry != "fake_n8") return;
    started.set_value();
    gate.wait();
  };
  Service service = world.service();
  const Device device = service.device(0);
  std::thread slow([&] { (void)service.prepare(fake_signature(8), device); });
  started.get_future().wait();
  // A hang here is a failure: the time limit of the test ends it.
  CHECK(service.prepare(fake_signature(16), device).plan().stages[0].origin == Origin::compiled);
  CHECK(service.prepare(fake_signature(16), device).plan().stages[0].origin == Origin::memory);
  CHECK(service.prepare(fake_signature(5000), device).plan().route == Route::composed);
  release.set_value();
  slow.join();
  CHECK(world.compiles == 2);
}

TEST_CASE("a call that failed is not remembered: a later one tries again") {
  const Folder folder;
  FakeWorld world(folder.path);
  std::atomic<bool> broken{true};
  world.on_compile = [&](const CompileRequest&) {
    if (broken) throw Error(ErrorCode::io_error, "a passing fault");
  };
  Service service = world.service();
  CHECK(code_of([&] { (void)service.prepare(fake_signature(8), kHopper); }) == ErrorCode::io_error);
  CHECK(code_of([&] { (void)service.prepare(fake_signature(8), kHopper); }) == ErrorCode::io_error);
  broken = false;
  CHECK(service.prepare(fake_signature(8), kHopper).plan().stages[0].origin == Origin::compiled);
  CHECK(world.compiles == 3);
}

TEST_CASE("threads that wait for a compile that fails all get its error") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.on_compile = [](const CompileRequest&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    throw Error(ErrorCode::io_error, "a passing fault");
  };
  Service service = world.service();
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      if (code_of([&] { (void)service.prepare(fake_signature(8), kHopper); }) ==
          ErrorCode::io_error)
        ++failures;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 8);
}

TEST_CASE(
    "each device has its own context, and one of an unknown newer kind runs composed kernels") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.gpu.devices = {{9, 0, 132}, {9, 0, 66}, {13, 7, 200}};
  Service service = world.service();
  CHECK(service.device_count() == 3);
  const Prepared first = service.prepare(fake_signature(8), service.device(0));
  const Prepared second = service.prepare(fake_signature(8), service.device(1));
  CHECK(second.device().sm_count == 66);
  CHECK(second.plan().stages[0].digest == first.plan().stages[0].digest);
  CHECK(world.compiles == 1);
  CHECK(world.gpu.loaded.size() == 1);  // one module serves every device
  CHECK(world.gpu.allowed_smem.size() == 2);

  const Prepared newer = service.prepare(fake_signature(8), service.device(2));
  REQUIRE(newer.plan().fallback.has_value());
  CHECK(newer.plan().fallback->reason == FallbackReason::unsupported_arch);
  CHECK(newer.plan().stages[0].origin == Origin::embedded);
  CHECK(code_of([&] { (void)service.device(3); }) == ErrorCode::device_missing);
  CHECK(code_of([&] {
          (void)service.prepare(fake_signature(8),
                                Device{}.ordinal == 0 ? Device{-1, {}, 0, ""} : Device{});
        }) == ErrorCode::device_missing);
}

TEST_CASE("a context is retained once a device and released with the last handle") {
  const Folder folder;
  FakeWorld world(folder.path);
  {
    Prepared kept;
    {
      Service service = world.service();
      (void)service.device(0);
      (void)service.device(0);
      kept = service.prepare(fake_signature(8), service.device(0));
      CHECK(world.gpu.retained == 1);
    }
    CHECK(world.gpu.retained == 1);
    CHECK(world.gpu.unloads == 0);
  }
  CHECK(world.gpu.retained == 0);
  CHECK(world.gpu.unloads == 1);
}

TEST_CASE("the current device is the one of the thread's context, else the first") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.gpu.devices = {{9, 0, 132}, {8, 0, 108}};
  Service service = world.service();
  CHECK(service.current_device().ordinal == 0);
  const auto driver = world.gpu.driver();
  CUctx_st* context = nullptr;
  REQUIRE(driver->primary_retain(&context, 1) == 0);
  REQUIRE(driver->context_push(context) == 0);
  CHECK(service.current_device().ordinal == 1);
  REQUIRE(driver->context_pop(&context) == 0);
}

TEST_CASE("a plan and a source are had without compiler, cache and device") {
  FakeWorld world("");
  world.driver_present = false;
  world.nvrtc_present = false;
  const Service service = world.service();
  CHECK(service.plan(fake_signature(8), kHopper).route == Route::fused);
  CHECK_THAT(service.source(fake_signature(8), kHopper), testing::contains("fake_n8"));
  CHECK(code_of([&] { (void)service.source(fake_signature(8), kHopper, 1); }) ==
        ErrorCode::invalid_argument);
  CHECK(code_of([&] { (void)service.source(fake_signature(5000), kHopper); }) ==
        ErrorCode::unavailable);
  CHECK(service.plan(fake_signature(5000), kHopper).stages[0].registers == 24);
  CHECK(world.searches == 0);
  CHECK(version() == "0.1.0");
}

}  // namespace
}  // namespace kiln
