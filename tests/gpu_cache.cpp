// What the driver answers for cubins that got past every checksum, and what a service does then;
// what a load costs in time and memory. Figures are printed: `gpu_kernels "[cache]" -s`.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include <kiln/rms_norm_backward.hpp>
#include <kiln/service.hpp>

#include "cache/entry.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/gpu_fixture.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using cache::testing::read_file;
using cache::testing::TemporaryFolder;
using cache::testing::write_file;

const RmsNormBackward kOp{.n = 2048};

struct Told {
  std::mutex mutex;
  std::vector<std::string> refusals;
};

Options options_at(const fs::path& root, Told& told, bool disable_jit = false) {
  Options options;
  options.policy = Policy::from_env();
  options.policy.cache_dir = root.string();
  options.policy.cache_layers.clear();
  options.policy.disable_jit = disable_jit;
  options.policy.log_level = LogLevel::off;
  options.telemetry = [&told](std::string_view event, std::string_view, std::string_view detail) {
    const std::lock_guard lock(told.mutex);
    if (event == "load_refusal") told.refusals.emplace_back(detail);
  };
  return options;
}

fs::path only_entry(const fs::path& root) {
  for (const auto& item : fs::recursive_directory_iterator(root / "v1/e")) {
    if (item.path().extension() == ".k") return item.path();
  }
  FAIL("the cache is empty");
  return {};
}

Origin origin_of(const Prepared& prepared) { return prepared.plan().stages.front().origin; }

// Another image under the same key, with every checksum right.
void forge(const fs::path& file, const std::function<void(std::vector<std::byte>&)>& change) {
  const std::string text = read_file(file);
  const auto decoded = cache::decode_entry(std::as_bytes(std::span(text)));
  cache::Entry entry = std::get<cache::Entry>(decoded);
  change(entry.cubin.image);
  const auto encoded = std::get<std::vector<std::byte>>(cache::encode_entry(entry));
  write_file(file, {reinterpret_cast<const char*>(encoded.data()), encoded.size()});
}

std::vector<std::byte> image_for(const Arch& arch) {
  const TemporaryFolder folder;
  Told told;
  Service service(options_at(folder / "root", told));
  (void)service.prepare(kOp.signature(), arch);
  const std::string text = read_file(only_entry(folder / "root"));
  return std::get<cache::Entry>(cache::decode_entry(std::as_bytes(std::span(text)))).cubin.image;
}

struct Damage {
  std::string name;
  std::function<void(std::vector<std::byte>&)> change;
  bool may_load = false;  // a driver may take it: nothing but the checksum would have noticed
};

std::vector<Damage> damages() {
  const bool ampere = testing::gpu().device.arch.major == 8;
  const Arch other = ampere ? Arch{9, 0, 'a'} : Arch{8, 0, '\0'};
  return {{"half of it is missing", [](auto& image) { image.resize(image.size() / 2); }},
          {"all but its header is missing", [](auto& image) { image.resize(64); }},
          {"it is empty of ELF", [](auto& image) { image[0] = std::byte{0}; }},
          {"of another architecture", [other](auto& image) { image = image_for(other); }},
          // Driver 580 does not look at the ELF header's ABI version.
          {"of an ABI that is too new", [](auto& image) { image[8] = std::byte{0xff}; }, true},
          {"one bit of its middle is another",
           [](auto& image) { image[image.size() / 2] ^= std::byte{1}; },
           true}};
}

TEST_CASE("a cubin that the driver refuses is compiled anew and replaced, or composed", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  Told told;
  {
    Service service(options_at(root, told));
    REQUIRE(origin_of(service.prepare(kOp.signature(), service.device(0))) == Origin::compiled);
  }
  const fs::path file = only_entry(root);
  const std::string good = read_file(file);
  for (const Damage& damage : damages()) {
    told.refusals.clear();
    write_file(file, good);
    forge(file, damage.change);
    {
      Service service(options_at(root, told, true));
      const Prepared prepared = service.prepare(kOp.signature(), service.device(0));
      INFO("a cubin, " << damage.name);
      const bool composed = prepared.plan().route == Route::composed;
      CHECK((composed || damage.may_load));
      if (composed) CHECK(prepared.plan().fallback->reason == FallbackReason::load_failed);
    }
    Service service(options_at(root, told));
    const Prepared prepared = service.prepare(kOp.signature(), service.device(0));
    INFO("a cubin, " << damage.name);
    CHECK(prepared.plan().route == Route::fused);
    const bool loaded = told.refusals.empty();
    CHECK((!loaded || damage.may_load));
    CHECK(origin_of(prepared) == (loaded ? Origin::cache : Origin::compiled));
    if (!loaded) CHECK(read_file(file) == good);
    WARN("a cubin, " << damage.name << ": "
                     << (loaded ? std::string("loads without a word") : told.refusals.front()));
  }
}

// Bytes of device memory that are free, which kiln itself never asks for; signed, since other
// programs may free some between two calls.
std::int64_t free_bytes() {
  using MemGetInfo = int (*)(std::size_t*, std::size_t*);
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto ask = reinterpret_cast<MemGetInfo>(::dlsym(library, "cuMemGetInfo_v2"));
  REQUIRE(ask != nullptr);
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(ask(&free, &total) == 0);
  return static_cast<std::int64_t>(free);
}

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

TEST_CASE("a kernel from the cache is loaded and launched soon, and its memory comes back",
          "[cache]") {
  testing::Gpu& gpu = testing::gpu();
  const TemporaryFolder folder;
  Told told;
  {
    Service service(options_at(folder / "root", told));
    (void)service.prepare(kOp.signature(), service.device(0));
  }
  const std::int64_t before = free_bytes();
  std::int64_t loaded = 0;
  {
    Service service(options_at(folder / "root", told));
    const auto start = std::chrono::steady_clock::now();
    const Prepared prepared = service.prepare(kOp.signature(), service.device(0));
    const double load_ms = ms_since(start);
    CHECK(origin_of(prepared) == Origin::cache);
    loaded = free_bytes();
    constexpr std::int64_t kRows = 64;
    std::uint64_t memory = 0;
    const std::size_t each = kRows * 2048 * 4;
    gpu.driver.check(gpu.driver.memory_allocate(&memory, 6 * each), "allocating");
    gpu.driver.check(gpu.driver.memory_set8(memory, 0, 6 * each), "zeroing");
    const auto part = [&](std::size_t i) { return reinterpret_cast<void*>(memory + i * each); };
    Launch launch = prepared.bind(kOp.arguments({.rows = kRows,
                                                 .dy = part(0),
                                                 .x = part(1),
                                                 .rstd = static_cast<const float*>(part(2)),
                                                 .w = part(3),
                                                 .dx = part(4),
                                                 .dw = part(5)}));
    const auto first = std::chrono::steady_clock::now();
    launch.run(nullptr);
    gpu.driver.check(gpu.driver.context_synchronize(), "running");
    const double first_ms = ms_since(first);
    const auto second = std::chrono::steady_clock::now();
    launch.run(nullptr);
    gpu.driver.check(gpu.driver.context_synchronize(), "running");
    WARN("prepared from the cache in "
         << load_ms << " ms; first launch " << first_ms << " ms, second " << ms_since(second)
         << " ms; the module takes " << (before - loaded) / 1024 << " KiB of device memory");
    gpu.driver.check(gpu.driver.memory_free(memory), "freeing");
  }
  // One module is less than the driver's granule, so many are loaded; what they took comes back, or
  // stays as a pool that the next ones take. Told and not checked: other programs use the device
  // too.
  constexpr std::size_t kModules = 256;
  std::int64_t taken[3] = {};
  for (std::int64_t& bytes : taken) {
    const std::int64_t without = free_bytes();
    std::vector<Prepared> modules;
    for (std::size_t i = 0; i < kModules; ++i) {
      Service service(options_at(folder / "root", told));
      modules.push_back(service.prepare(kOp.signature(), service.device(0)));
    }
    bytes = without - free_bytes();
  }
  const std::int64_t after = free_bytes();
  WARN(kModules << " modules take " << taken[0] / 1024 << " KiB, again " << taken[1] / 1024
                << " and " << taken[2] / 1024 << " KiB; " << (after - loaded) / 1024
                << " KiB more are free afterwards");
}

}  // namespace
}  // namespace kiln
