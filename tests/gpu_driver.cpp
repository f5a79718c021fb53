// The driver, devices, modules and launches on a real GPU.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/error.hpp>

#include "src/cuda/device.hpp"
#include "src/cuda/launch.hpp"
#include "src/cuda/module.hpp"
#include "src/cuda/nvrtc.hpp"
#include "tests/cuda_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using testing::contains;

struct Parameters {
  std::uint64_t data;
  int add;
  int count;
};

// `sum` uses all the dynamic shared memory it is given, so a launch that gets less fails.
const std::string kSource = R"(
struct Parameters { int* data; int add; int count; };
extern "C" __global__ void add(const __grid_constant__ Parameters p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.count) p.data[i] += p.add;
}
extern "C" __global__ void reversed(const __grid_constant__ Parameters p) {
  extern __shared__ int s[];
  for (int i = threadIdx.x; i < p.count; i += blockDim.x) s[i] = p.data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < p.count; i += blockDim.x) p.data[i] = s[p.count - 1 - i];
}
extern "C" __global__ void cluster_rank(const __grid_constant__ Parameters p) {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  if (threadIdx.x == 0) p.data[blockIdx.x] = (int)rank;
}
)";

// One device with its context current, and the kernels above loaded.
class Fixture {
 public:
  explicit Fixture(bool ptx = false)
      : driver(Driver::load()),
        properties(device_properties(driver, 0)),
        context(driver, 0),
        guard(driver, context.get()),
        module(driver, compiled(ptx), "the test's kernels") {}

  Driver driver;
  DeviceProperties properties;
  PrimaryContext context;
  ContextGuard guard;
  Module module;

 private:
  std::vector<std::byte> compiled(bool ptx) const {
    const Closure closure = testing::closure_of(kSource, "");
    const CompileOptions options = CompileOptions::standard();
    const Arch arch = ptx ? Arch{8, 0, '\0'} : properties.limits.arch;
    return compile(testing::machine_nvrtc(),
                   {.closure = closure, .options = options, .arch = arch, .seed = "1", .ptx = ptx})
        .cubin.image;
  }
};

class Buffer {
 public:
  Buffer(const Driver& driver, const std::vector<int>& values)
      : driver_(driver), count_(values.size()) {
    driver_.check(driver_.memory_allocate(&address_, count_ * sizeof(int)), "allocating");
    driver_.check(driver_.copy_to_device(address_, values.data(), count_ * sizeof(int)), "copying");
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&&) = delete;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() { (void)driver_.memory_free(address_); }

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::vector<int> values() const {
    std::vector<int> out(count_);
    driver_.check(driver_.context_synchronize(), "waiting");
    driver_.check(driver_.copy_to_host(out.data(), address_, count_ * sizeof(int)), "copying");
    return out;
  }

 private:
  const Driver& driver_;
  std::uint64_t address_ = 0;
  std::size_t count_;
};

std::vector<int> counted(int count) {
  std::vector<int> values;
  for (int i = 0; i < count; ++i) values.push_back(i);
  return values;
}

TEST_CASE("the limits of every device are the table's") {
  const Driver driver = Driver::load();
  CHECK(driver_cuda_version(driver) >= 12080);
  for (const DeviceProperties& device : enumerate_devices(driver)) {
    INFO(device.name << ", compute capability " << device.major << "." << device.minor);
    CHECK_FALSE(device.name.empty());
    CHECK(device.sm_count > 0);
    const std::optional<Arch> arch = arch_of_capability(device.major, device.minor);
    if (!arch) continue;  // newer than the table
    const DeviceLimits& table = limits_of(*arch);
    DeviceLimits read = device.limits;
    read.origin = table.origin;
    CHECK(read.arch == table.arch);
    CHECK(read.smem_per_cta_bytes == table.smem_per_cta_bytes);
    CHECK(read.smem_per_sm_bytes == table.smem_per_sm_bytes);
    CHECK(read.smem_reserved_per_cta_bytes == table.smem_reserved_per_cta_bytes);
    CHECK(read.ctas_per_sm == table.ctas_per_sm);
    CHECK(read == table);
  }
}

TEST_CASE("a compiled kernel is loaded, launched, and its result is right") {
  for (const bool ptx : {false, true}) {
    const Fixture fixture(ptx);
    const Buffer buffer(fixture.driver, counted(1000));
    const ModuleKernel kernel = fixture.module.kernel("add");
    const PackedLaunch launched(
        fixture.driver, kernel.function, {.grid = {4, 1, 1}, .threads = 256});
    const Parameters parameters{buffer.address(), 5, 1000};
    fixture.driver.check(launched.run(nullptr, &parameters), "launching");
    fixture.driver.check(launched.run(nullptr, &parameters), "launching");
    const std::vector<int> values = buffer.values();
    for (int i = 0; i < 1000; ++i) REQUIRE(values[static_cast<std::size_t>(i)] == i + 10);
  }
}

TEST_CASE("a kernel may use all the shared memory the table grants") {
  const Fixture fixture;
  const ModuleKernel kernel = fixture.module.kernel("reversed");
  const int smem_bytes = fixture.properties.limits.smem_per_cta_bytes;
  const int count = smem_bytes / static_cast<int>(sizeof(int));
  const Buffer buffer(fixture.driver, counted(count));
  allow_dynamic_smem(fixture.driver, kernel.kernel, 0, smem_bytes);
  CHECK(active_ctas_per_sm(fixture.driver, kernel.function, 256, smem_bytes) == 1);
  const Parameters parameters{buffer.address(), 0, count};
  launch(fixture.driver,
         kernel.function,
         {.grid = {1, 1, 1}, .threads = 256, .smem_bytes = smem_bytes},
         nullptr,
         &parameters);
  const std::vector<int> values = buffer.values();
  for (int i = 0; i < count; ++i) REQUIRE(values[static_cast<std::size_t>(i)] == count - 1 - i);
  CHECK_THROWS_AS(allow_dynamic_smem(fixture.driver, kernel.kernel, 0, smem_bytes + 1024), Error);
}

TEST_CASE("occupancy follows the table's shared memory") {
  const Fixture fixture;
  const ModuleKernel kernel = fixture.module.kernel("reversed");
  const DeviceLimits& limits = fixture.properties.limits;
  const int smem_bytes = 40 * 1024;
  allow_dynamic_smem(fixture.driver, kernel.kernel, 0, smem_bytes);
  CHECK(active_ctas_per_sm(fixture.driver, kernel.function, 128, smem_bytes) ==
        limits.smem_per_sm_bytes / (smem_bytes + limits.smem_reserved_per_cta_bytes));
}

TEST_CASE("a cooperative launch runs when all CTAs fit, and is refused when they do not") {
  const Fixture fixture;
  const ModuleKernel kernel = fixture.module.kernel("add");
  const Buffer buffer(fixture.driver, counted(256));
  const Parameters parameters{buffer.address(), 1, 256};
  const auto fitting = static_cast<unsigned>(
      fixture.properties.sm_count * active_ctas_per_sm(fixture.driver, kernel.function, 256, 0));
  LaunchShape shape{.grid = {fitting, 1, 1}, .threads = 256, .cooperative = true};
  CHECK_NOTHROW(launch(fixture.driver, kernel.function, shape, nullptr, &parameters));
  CHECK(buffer.values()[255] == 256);
  shape.grid[0] = fitting + 1;
  CHECK_THROWS_AS(launch(fixture.driver, kernel.function, shape, nullptr, &parameters), Error);
}

TEST_CASE("CTAs of a cluster have ranks") {
  const Fixture fixture;
  if (fixture.properties.limits.max_cluster_ctas == 0) return;
  const Buffer buffer(fixture.driver, std::vector<int>(8, -1));
  const Parameters parameters{buffer.address(), 0, 8};
  const ModuleKernel kernel = fixture.module.kernel("cluster_rank");
  launch(fixture.driver,
         kernel.function,
         {.grid = {8, 1, 1}, .threads = 32, .cluster_ctas = 4},
         nullptr,
         &parameters);
  CHECK(buffer.values() == std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("images the driver refuses are load failures, with its log for PTX") {
  const Fixture fixture;
  const auto failure = [&](std::string_view image) {
    try {
      const Module module(fixture.driver, std::as_bytes(std::span(image)), "a bad image");
      (void)module.kernel("k");
    } catch (const Error& error) {
      CHECK(error.code == ErrorCode::load_failed);
      return error.detail;
    }
    return std::string("it loaded");
  };
  CHECK_THAT(
      failure(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { nonsense; }\n"),
      contains("a bad image"));
  CHECK_THAT(failure("neither cubin nor PTX"), contains("a bad image"));
  CHECK_THROWS_WITH(fixture.module.kernel("absent"), contains("finding kernel absent"));
}

TEST_CASE("a cubin of another architecture is a load failure") {
  const Fixture fixture;
  const Arch other = fixture.properties.major == 8 ? Arch{9, 0, 'a'} : Arch{8, 0, '\0'};
  const Closure closure = testing::closure_of(kSource, "");
  const CompileOptions options = CompileOptions::standard();
  const CompileResult result =
      compile(testing::machine_nvrtc(),
              {.closure = closure, .options = options, .arch = other, .seed = "1"});
  const auto load = [&] {
    const Module module(fixture.driver, result.cubin.image, "a foreign cubin");
    (void)module.kernel("add");
  };
  CHECK_THROWS_WITH(load(), contains("load_failed"));
}

TEST_CASE("the context before a guard is current again after it") {
  const Driver driver = Driver::load();
  const PrimaryContext context(driver, 0);
  CUctx_st* before = nullptr;
  driver.check(driver.context_current(&before), "asking");
  {
    const ContextGuard guard(driver, context.get());
    CUctx_st* inside = nullptr;
    driver.check(driver.context_current(&inside), "asking");
    CHECK(inside == context.get());
    const ContextGuard again(driver, context.get());
  }
  CUctx_st* after = nullptr;
  driver.check(driver.context_current(&after), "asking");
  CHECK(after == before);
}

}  // namespace
}  // namespace kiln
