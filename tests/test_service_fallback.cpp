// When a fused kernel cannot be had: composed ones, with the reason; or, under strict, an error.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "tests/fakes/fake_service.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using fakes::fake_signature;
using fakes::FakeWorld;
using fakes::Folder;

const Arch kHopper{9, 0, 'a'};

std::optional<Error> error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// The file that a failed compile says it left.
std::filesystem::path kept_source_of(const std::string& detail) {
  const std::string marker = "The source is in ";
  const std::size_t at = detail.find(marker);
  REQUIRE(at != std::string::npos);
  const std::size_t start = at + marker.size();
  return detail.substr(start, detail.find(".cu", start) + 3 - start);
}

void check_composed(const Prepared& prepared, FallbackReason reason) {
  CHECK(prepared.plan().route == Route::composed);
  REQUIRE(prepared.plan().fallback.has_value());
  CHECK(prepared.plan().fallback->reason == reason);
  CHECK_FALSE(prepared.plan().fallback->detail.empty());
  REQUIRE(prepared.plan().stages.size() == 1);
  CHECK(prepared.plan().stages[0].origin == Origin::embedded);
  CHECK(prepared.plan().stages[0].registers == 24);
  CHECK(prepared.plan().stages[0].static_smem_bytes == 16);
  CHECK(prepared.plan().stages[0].digest.empty());
}

TEST_CASE("a planner's refusal takes the composed route, also under strict") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.options.policy.strict = true;
  Service service = world.service();
  check_composed(service.prepare(fake_signature(5000), service.device(0)),
                 FallbackReason::unsupported_size);
  check_composed(service.prepare(fake_signature(5000), kHopper), FallbackReason::unsupported_size);
  CHECK(world.gpu.loaded == std::vector<std::string>{"composed"});
  CHECK(world.compiles == 0);
  CHECK(service.statistics().fallbacks == 2);
}

TEST_CASE("a caller may ask for the composed route") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.options.route = RouteChoice::composed;
  world.options.policy.strict = true;
  Service service = world.service();
  check_composed(service.prepare(fake_signature(8), service.device(0)), FallbackReason::forced);
}

TEST_CASE("with JIT disabled and an empty cache composed kernels run") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.options.policy.disable_jit = true;
  Service service = world.service();
  const Prepared prepared = service.prepare(fake_signature(8), service.device(0));
  check_composed(prepared, FallbackReason::jit_disabled);
  CHECK_THAT(prepared.plan().fallback->detail, testing::contains("kiln warm"));
  CHECK(world.gpu.loaded == std::vector<std::string>{"composed"});
  CHECK(world.warned("jit_disabled") == 1);
  check_composed(service.prepare(fake_signature(8), kHopper), FallbackReason::jit_disabled);
}

TEST_CASE("without NVRTC and with an empty cache composed kernels run") {
  const Folder folder;
  FakeWorld world(folder.path);
  SECTION("none is found") { world.nvrtc_present = false; }
  SECTION("it cannot be loaded") { world.nvrtc_loads = false; }
  Service service = world.service();
  check_composed(service.prepare(fake_signature(8), service.device(0)),
                 FallbackReason::nvrtc_missing);
}

TEST_CASE(
    "under strict a fallback that the environment forces is an error that carries the reason") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.options.policy.strict = true;
  std::string reason;
  SECTION("JIT is disabled") {
    world.options.policy.disable_jit = true;
    reason = "jit_disabled";
  }
  SECTION("there is no NVRTC") {
    world.nvrtc_present = false;
    reason = "nvrtc_missing";
  }
  SECTION("the compiler refuses") {
    world.on_compile = [](const CompileRequest&) {
      throw Error(ErrorCode::compile_failed, "line 1: no");
    };
    reason = "compile_failed";
  }
  SECTION("the driver refuses") {
    world.gpu.on_load = [](const std::string&) { return 209; };
    reason = "load_failed";
  }
  SECTION("memory runs out") {
    world.gpu.on_load = [](const std::string&) { return 2; };
    reason = "out_of_memory";
  }
  Service service = world.service();
  const auto error = error_of([&] { (void)service.prepare(fake_signature(8), service.device(0)); });
  REQUIRE(error.has_value());
  CHECK(error->code == ErrorCode::forced_fallback);
  CHECK_THAT(error->detail, testing::contains(reason));
  CHECK(service.statistics().fallbacks == 0);
  if (reason == "compile_failed") std::filesystem::remove(kept_source_of(error->detail));
}

TEST_CASE("a kernel that does not compile gives way to composed ones; log and source are kept") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.on_compile = [](const CompileRequest&) {
    throw Error(ErrorCode::compile_failed, "kiln.cu(1): error: expected a declaration");
  };
  Service service = world.service();
  const Prepared prepared = service.prepare(fake_signature(8), service.device(0));
  check_composed(prepared, FallbackReason::compile_failed);
  const std::string detail = prepared.plan().fallback->detail;
  CHECK_THAT(detail, testing::contains("expected a declaration"));
  const std::filesystem::path path = kept_source_of(detail);
  std::ifstream file(path);
  const std::string kept{std::istreambuf_iterator<char>(file), {}};
  CHECK(kept == service.source(fake_signature(8), kHopper));
  std::filesystem::remove(path);

  // Not built in a loop: this process remembers the outcome.
  check_composed(service.prepare(fake_signature(8), service.device(0)),
                 FallbackReason::compile_failed);
  CHECK(world.compiles == 1);
}

TEST_CASE("a fresh kernel that the driver refuses gives way to composed ones") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.gpu.on_load = [](const std::string& image) { return image == "composed" ? 0 : 218; };
  Service service = world.service();
  check_composed(service.prepare(fake_signature(8), service.device(0)),
                 FallbackReason::load_failed);
  CHECK(world.compiles == 1);  // the same bytes would come out again
  // Another signature of the same digest is told at once.
  check_composed(service.prepare(fake_signature(8, 1), service.device(0)),
                 FallbackReason::load_failed);
  CHECK(world.compiles == 1);
}

TEST_CASE(
    "a cached kernel that the driver refuses twice gives way to composed ones after one compile") {
  const Folder folder;
  {
    FakeWorld first(folder.path);
    Service service = first.service();
    (void)service.prepare(fake_signature(8), kHopper);
  }
  FakeWorld world(folder.path);
  world.gpu.on_load = [](const std::string& image) { return image == "composed" ? 0 : 200; };
  Service service = world.service();
  check_composed(service.prepare(fake_signature(8), service.device(0)),
                 FallbackReason::load_failed);
  CHECK(world.compiles == 1);
}

TEST_CASE(
    "out of memory is tried twice, then composed kernels run, and the next call tries again") {
  const Folder folder;
  FakeWorld world(folder.path);
  int attempts = 0;
  int failures = 1;
  world.gpu.on_load = [&](const std::string& image) {
    if (image == "composed") return 0;
    return ++attempts <= failures ? 2 : 0;
  };
  Service service = world.service();
  SECTION("the second attempt succeeds") {
    CHECK(service.prepare(fake_signature(8), service.device(0)).plan().route == Route::fused);
    CHECK(attempts == 2);
  }
  SECTION("both fail") {
    failures = 2;
    check_composed(service.prepare(fake_signature(8), service.device(0)),
                   FallbackReason::out_of_memory);
    CHECK(service.prepare(fake_signature(8), service.device(0)).plan().route == Route::fused);
    CHECK(world.compiles == 1);
  }
}

TEST_CASE("a lost device is an error, not a fallback, and costs the cache nothing") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.gpu.on_load = [](const std::string&) { return 700; };
  Service service = world.service();
  const auto error = error_of([&] { (void)service.prepare(fake_signature(8), service.device(0)); });
  REQUIRE(error.has_value());
  CHECK(error->code == ErrorCode::driver_error);
  world.gpu.on_load = nullptr;
  CHECK(service.prepare(fake_signature(8), service.device(0)).plan().route == Route::fused);
  CHECK(world.compiles == 1);
}

TEST_CASE("a kernel of which no CTA fits on an SM gives way to composed ones") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.gpu.resident_ctas = 0;
  Service service = world.service();
  const auto error = error_of([&] { (void)service.prepare(fake_signature(8), service.device(0)); });
  REQUIRE(error.has_value());  // the composed one does not fit either here
  CHECK(error->code == ErrorCode::unavailable);
}

TEST_CASE(
    "composed kernels that cannot be loaded either make the request unavailable, with both "
    "reasons") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.options.policy.disable_jit = true;
  world.gpu.on_load = [](const std::string&) { return 209; };
  Service service = world.service();
  const auto error = error_of([&] { (void)service.prepare(fake_signature(8), service.device(0)); });
  REQUIRE(error.has_value());
  CHECK(error->code == ErrorCode::unavailable);
  CHECK_THAT(error->detail, testing::contains("KILN_DISABLE_JIT"));
  CHECK_THAT(error->detail, testing::contains("209"));
}

TEST_CASE("an old device that not even PTX serves is unavailable, by name") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.gpu.devices = {{7, 5, 40}};
  Service service = world.service();
  const auto error = error_of([&] { (void)service.prepare(fake_signature(8), service.device(0)); });
  REQUIRE(error.has_value());
  CHECK(error->code == ErrorCode::unavailable);
  CHECK_THAT(error->detail, testing::contains("sm_75"));
}

TEST_CASE("composed kernels shared by two plans keep the larger shared memory") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.options.route = RouteChoice::composed;
  Service service = world.service();
  (void)service.prepare(fake_signature(8), service.device(0));
  (void)service.prepare(fake_signature(9), service.device(0));
  CHECK(world.gpu.loaded.size() == 1);
  CHECK(world.gpu.allowed_smem == std::vector<int>{1024});
}

}  // namespace
}  // namespace kiln
