// Kernels of a fused plan for arguments that its own does not take.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "tests/fakes/fake_service.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using fakes::fake_arguments;
using fakes::fake_signature;
using fakes::FakeWorld;
using fakes::Folder;

TEST_CASE("kernels for other arguments run where they are needed, and are missed only there") {
  const Folder folder;
  FakeWorld world(folder.path);
  int refused = 0;
  SECTION("they are there") {}
  SECTION("the driver refuses them") { refused = 209; }
  SECTION("there is no memory for them") { refused = 2; }
  world.gpu.on_load = [&](const std::string& image) { return image == "composed" ? refused : 0; };
  Service service = world.service();
  const Prepared prepared =
      service.prepare(fake_signature(8, fakes::kTagOtherwise), service.device(0));
  CHECK(prepared.plan().route == Route::fused);
  CHECK(prepared.plan().otherwise.at(0).origin == Origin::embedded);
  CHECK(world.warned("but not where y starts off 16 bytes") == (refused == 0 ? 0 : 1));
  void* x = reinterpret_cast<void*>(0x1000);
  void* aligned = reinterpret_cast<void*>(0x2000);
  void* misaligned = reinterpret_cast<void*>(0x2008);
  Launch launch = prepared.bind(fake_arguments(x, aligned, 7));
  CHECK_NOTHROW(launch.run(nullptr));
  std::optional<Error> error;
  try {
    launch.rebind(fake_arguments(x, misaligned, 7));
  } catch (const Error& thrown) {
    error = thrown;
  }
  CHECK(error.has_value() == (refused != 0));
  if (error) {
    CHECK(error->code == ErrorCode::load_failed);
    CHECK_THAT(error->detail, testing::contains("y starts off 16 bytes"));
  }
  CHECK_NOTHROW(launch.run(nullptr));  // as it was, or with the kernel that takes them
  const auto& launches = world.gpu.launches;
  REQUIRE(launches.size() == 2);
  CHECK((launches[0].function == launches[1].function) == (refused != 0));
}

}  // namespace
}  // namespace kiln
