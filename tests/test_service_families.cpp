// Every real family behind the service, on a fake driver: composed kernels are there, re-binding
// allocates nothing.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "kernels/family.hpp"
#include "tests/fakes/allocations.hpp"
#include "tests/fakes/fake_service.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using fakes::allocations_of;
using fakes::FakeWorld;
using fakes::Folder;

TEST_CASE(
    "with JIT disabled and nothing cached every real family has composed kernels for every "
    "architecture") {
  Options options;
  options.policy.disable_jit = true;
  options.policy.log_level = LogLevel::off;
  Service service(options);
  for (const Family* family : families()) {
    for (const Sample& sample : family->samples()) {
      for (const DeviceLimits& limits : known_limits()) {
        INFO(sample.signature << " on " << limits.arch.text());
        const Prepared prepared = service.prepare(Signature::parse(sample.signature), limits.arch);
        CHECK(prepared.plan().route == Route::composed);
        CHECK(prepared.plan().fallback.has_value());
        for (const StagePlan& stage : prepared.plan().stages)
          CHECK(stage.origin == Origin::embedded);
      }
    }
  }
  CHECK_FALSE(service.statistics().nvrtc_loaded);
}

// Tensors of a problem at made-up addresses that do not overlap.
Arguments arguments_of(const Problem& problem) {
  Arguments arguments;
  std::uintptr_t address = 1UL << 40;
  for (const TensorSpec& tensor : problem.tensors) {
    Tensor argument{tensor.name, reinterpret_cast<void*>(address), tensor.type};
    argument.rank = static_cast<int>(tensor.shape.size());
    std::int64_t elements = 1;
    for (std::size_t i = tensor.shape.size(); i-- > 0; elements *= tensor.shape[i]) {
      argument.shape[i] = tensor.shape[i];
      argument.strides[i] = elements;
    }
    arguments.add(tensor.shape.empty() ? scalar(tensor.name, 0.5) : argument);
    address += (static_cast<std::uintptr_t>(elements) * 4 + 4096) / 4096 * 4096;
  }
  return arguments;
}

void check_rebinding(Service& service, const Family& family, const Sample& sample) {
  const Signature signature = Signature::parse(sample.signature);
  const Prepared prepared = service.prepare(signature, service.device(0));
  // The arguments' names point into the problems.
  const Problem few = family.problem(signature, 3);
  const Problem many = family.problem(signature, 4099);
  const Problem none = family.problem(signature, 0);
  Launch launch = prepared.bind(arguments_of(few));
  CHECK(launch.kernel_count() >= 1);
  const Arguments other = arguments_of(many);
  CHECK(allocations_of([&] { launch.rebind(other); }) == 0);
  CHECK(launch.kernel_count() >= 1);
  CHECK_NOTHROW(launch.run(nullptr));
  CHECK_NOTHROW((void)launch.clone());
  CHECK_NOTHROW(launch.rebind(arguments_of(none)));
}

TEST_CASE("re-binding a launch of a real family allocates nothing, by either route") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.options.route = GENERATE(RouteChoice::automatic, RouteChoice::composed);
  Backends backends = world.backends();
  const Backends real = Backends::real();
  backends.find_family = real.find_family;
  backends.find_composed = real.find_composed;
  backends.embedded_files = real.embedded_files;
  Service service(world.options, backends);
  for (const Family* family : families()) {
    for (const Sample& sample : family->samples()) {
      INFO(sample.signature);
      check_rebinding(service, *family, sample);
    }
  }
}

}  // namespace
}  // namespace kiln
