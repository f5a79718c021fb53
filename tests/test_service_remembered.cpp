// What failed minutes ago is not tried again, except by who asks for it; and telemetry.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "src/cuda/nvrtc.hpp"
#include "tests/fakes/fake_service.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using fakes::fake_signature;
using fakes::FakeWorld;
using fakes::Folder;

const Arch kHopper{9, 0, 'a'};

FallbackReason reason_of(const Prepared& prepared) {
  REQUIRE(prepared.plan().fallback.has_value());
  return prepared.plan().fallback->reason;
}

// Compiles that a service starts for one signature.
int compiles_of(FakeWorld& world, FallbackReason expected) {
  Service service = world.service();
  const int before = world.compiles;
  CHECK(reason_of(service.prepare(fake_signature(8), service.device(0))) == expected);
  return world.compiles - before;
}

TEST_CASE("a source that the compiler refused is not compiled again for a while") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.on_compile = [](const CompileRequest&) { throw SourceRefused("line 3: no such thing"); };
  CHECK(compiles_of(world, FallbackReason::compile_failed) == 1);
  CHECK(compiles_of(world, FallbackReason::compile_failed) == 0);
  Service service = world.service();
  const Prepared prepared = service.prepare(fake_signature(8), service.device(0));
  CHECK_THAT(prepared.plan().fallback->detail, kiln::testing::contains("line 3: no such thing"));
  CHECK_THAT(prepared.plan().fallback->detail, kiln::testing::contains("minutes ago"));

  // Warming, and strict mode, try at once.
  const int before = world.compiles;
  CHECK(reason_of(world.service().prepare(fake_signature(8), kHopper)) ==
        FallbackReason::compile_failed);
  world.options.policy.strict = true;
  Service strict = world.service();
  CHECK_THROWS_AS(strict.prepare(fake_signature(8), strict.device(0)), Error);
  CHECK(world.compiles == before + 2);
}

TEST_CASE("what may pass is tried again at once") {
  for (const ErrorCode code : {ErrorCode::compile_failed, ErrorCode::out_of_memory}) {
    const Folder folder;
    FakeWorld world(folder.path);
    world.on_compile = [code](const CompileRequest&) {
      throw Error(code, "a crash, or a time-out");
    };
    const FallbackReason reason = code == ErrorCode::compile_failed ? FallbackReason::compile_failed
                                                                    : FallbackReason::out_of_memory;
    CHECK(compiles_of(world, reason) == 1);
    CHECK(compiles_of(world, reason) == 1);
  }
}

TEST_CASE("a cubin that a driver refused is compiled again by another driver only") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.gpu.on_load = [](const std::string& image) { return image == "composed" ? 0 : 209; };
  CHECK(compiles_of(world, FallbackReason::load_failed) >= 1);
  CHECK(compiles_of(world, FallbackReason::load_failed) <= 1);  // its own entry was still there
  CHECK(compiles_of(world, FallbackReason::load_failed) == 0);
  world.gpu.cuda_version = 13010;
  CHECK(compiles_of(world, FallbackReason::load_failed) >= 1);
}

TEST_CASE("telemetry tells what a service did, and what it throws harms nothing") {
  const Folder folder;
  FakeWorld world(folder.path);
  std::mutex mutex;
  std::map<std::string, int> told;
  world.options.telemetry = [&](std::string_view event, std::string_view, std::string_view) {
    const std::lock_guard lock(mutex);
    ++told[std::string(event)];
    throw 1;
  };
  (void)world.service().prepare(fake_signature(8), kHopper);
  (void)world.service().prepare(fake_signature(8), kHopper);
  CHECK(told["miss"] >= 1);
  CHECK(told["compile"] == 1);
  CHECK(told["stored"] == 1);
  CHECK(told["hit"] == 1);
}

}  // namespace
}  // namespace kiln
