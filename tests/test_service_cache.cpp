// The service and the store on disk: warm starts, other toolchains, damage, what must not be
// cached.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/fakes/fake_service.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using fakes::fake_signature;
using fakes::FakeWorld;
using fakes::Folder;

const Arch kHopper{9, 0, 'a'};

std::vector<fs::path> entries_of(const fs::path& root) {
  std::vector<fs::path> files;
  if (!fs::exists(root / "v1" / "e")) return files;
  for (const auto& file : fs::recursive_directory_iterator(root / "v1" / "e")) {
    if (file.is_regular_file()) files.push_back(file.path());
  }
  return files;
}

void warm(const fs::path& root, const std::string& nvrtc_id = "aa") {
  FakeWorld world(root);
  world.nvrtc_id = nvrtc_id;
  Service service = world.service();
  (void)service.prepare(fake_signature(8), kHopper);
  REQUIRE(world.compiles == 1);
}

TEST_CASE("a second service on a warm folder hits without loading NVRTC") {
  const Folder folder;
  warm(folder.path);
  FakeWorld world(folder.path);
  Service service = world.service();
  const Prepared prepared = service.prepare(fake_signature(8), service.device(0));
  CHECK(prepared.plan().stages[0].origin == Origin::cache);
  CHECK(prepared.plan().stages[0].registers == 32);
  CHECK(world.gpu.loaded == std::vector<std::string>{"cubin 1"});
  CHECK(world.compiles == 0);
  CHECK(world.nvrtc_loads_done == 0);
  CHECK_FALSE(service.statistics().nvrtc_loaded);
  CHECK(service.statistics().cache_hits == 1);
}

TEST_CASE("the toolchain is searched for once") {
  const Folder folder;
  FakeWorld world(folder.path);
  Service service = world.service();
  for (int n = 1; n <= 5; ++n) (void)service.prepare(fake_signature(n), kHopper);
  CHECK(world.searches == 1);
}

TEST_CASE("a read-only layer is a hit of its own kind") {
  const Folder layer;
  const Folder folder;
  warm(layer.path);
  FakeWorld world(folder.path);
  world.options.policy.cache_layers = {layer.path};
  Service service = world.service();
  CHECK(service.prepare(fake_signature(8), kHopper).plan().stages[0].origin == Origin::layer);
  CHECK(service.statistics().layer_hits == 1);
  CHECK(world.compiles == 0);
}

TEST_CASE("another toolchain's entry is a miss where compiling is possible") {
  const Folder folder;
  warm(folder.path, "aa");
  FakeWorld world(folder.path);
  world.nvrtc_id = "cc";
  Service service = world.service();
  CHECK(service.prepare(fake_signature(8), kHopper).plan().stages[0].origin == Origin::compiled);
}

TEST_CASE("with JIT disabled any toolchain's entry serves") {
  const Folder folder;
  warm(folder.path, "aa");
  FakeWorld world(folder.path);
  world.nvrtc_id = "cc";
  world.options.policy.disable_jit = true;
  world.options.policy.strict = true;
  Service service = world.service();
  CHECK(service.prepare(fake_signature(8), service.device(0)).plan().stages[0].origin ==
        Origin::cache);
  CHECK(world.searches == 0);
}

TEST_CASE("without NVRTC any toolchain's entry serves") {
  const Folder folder;
  warm(folder.path, "aa");
  FakeWorld world(folder.path);
  world.options.policy.strict = true;
  SECTION("there is none") { world.nvrtc_present = false; }
  SECTION("there is one of another version that cannot be loaded") {
    world.nvrtc_id = "cc";
    world.nvrtc_loads = false;
  }
  Service service = world.service();
  CHECK(service.prepare(fake_signature(8), service.device(0)).plan().stages[0].origin ==
        Origin::cache);
  CHECK(world.compiles == 0);
}

TEST_CASE("without NVRTC an entry that the driver refuses gives way to the next toolchain's") {
  const Folder folder;
  warm(folder.path, "aa");
  {
    FakeWorld other(folder.path);
    other.nvrtc_id = "cc";
    other.image = "other";
    Service service = other.service();
    (void)service.prepare(fake_signature(8), kHopper);
  }
  REQUIRE(entries_of(folder.path).size() == 2);
  FakeWorld world(folder.path);
  world.nvrtc_present = false;
  std::string refused;
  const auto refuse_first = [&](const std::string& image) {
    if (refused.empty()) refused = image;
    return image == refused ? 222 : 0;
  };
  world.gpu.on_load = refuse_first;
  Service service = world.service();
  const Prepared prepared = service.prepare(fake_signature(8), service.device(0));
  CHECK(prepared.plan().route == Route::fused);
  CHECK(prepared.plan().stages[0].origin == Origin::cache);
  REQUIRE(world.gpu.loaded.size() == 1);
  CHECK(world.gpu.loaded[0] != refused);
  CHECK(entries_of(folder.path).size() == 2);  // a newer driver may want it: nothing is thrown away
}

TEST_CASE("a damaged entry is compiled again and replaced") {
  const Folder folder;
  warm(folder.path);
  const std::vector<fs::path> entries = entries_of(folder.path);
  REQUIRE(entries.size() == 1);
  {
    std::fstream file(entries[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(entries[0]) / 2));
    file.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  }
  FakeWorld world(folder.path);
  Service service = world.service();
  CHECK(service.prepare(fake_signature(8), kHopper).plan().stages[0].origin == Origin::compiled);
  CHECK(world.compiles == 1);

  FakeWorld third(folder.path);
  Service after = third.service();
  CHECK(after.prepare(fake_signature(8), kHopper).plan().stages[0].origin == Origin::cache);
}

TEST_CASE("an entry that the driver refuses is quarantined, compiled once more and kept") {
  const Folder folder;
  warm(folder.path);
  FakeWorld world(folder.path);
  world.image = "fresh";
  world.gpu.on_load = [](const std::string& image) { return image.starts_with("cubin") ? 200 : 0; };
  Service service = world.service();
  const Prepared prepared = service.prepare(fake_signature(8), service.device(0));
  CHECK(prepared.plan().route == Route::fused);
  CHECK(prepared.plan().stages[0].origin == Origin::compiled);
  CHECK(world.gpu.loaded == std::vector<std::string>{"fresh 1"});

  FakeWorld third(folder.path);
  Service after = third.service();
  CHECK(after.prepare(fake_signature(8), after.device(0)).plan().stages[0].origin == Origin::cache);
  CHECK(third.gpu.loaded == std::vector<std::string>{"fresh 1"});
}

TEST_CASE("variables that change what NVRTC makes switch the cache off, with one warning") {
  const Folder folder;
  warm(folder.path);
  FakeWorld world(folder.path);
  world.options.policy.nvrtc_overrides = {"NVRTC_APPEND_FLAGS"};
  Service service = world.service();
  CHECK(service.prepare(fake_signature(8), kHopper).plan().stages[0].origin == Origin::compiled);
  CHECK(service.prepare(fake_signature(16), kHopper).plan().stages[0].origin == Origin::compiled);
  CHECK(entries_of(folder.path).size() == 1);
  CHECK(world.warned("NVRTC_APPEND_FLAGS") == 1);
}

TEST_CASE("an NVRTC that is not the one identified compiles without caching, with one warning") {
  const Folder folder;
  FakeWorld world(folder.path);
  world.uncacheable_reason = "another libnvrtc-builtins was mapped";
  Service service = world.service();
  (void)service.prepare(fake_signature(8), kHopper);
  (void)service.prepare(fake_signature(16), kHopper);
  CHECK(entries_of(folder.path).empty());
  CHECK(world.warned("another libnvrtc-builtins") == 1);
}

TEST_CASE("without a cache folder kernels are compiled, with one warning that says why") {
  FakeWorld world("");
  world.options.policy.cache_dir_reason = "HOME is not set";
  Service service = world.service();
  CHECK(service.prepare(fake_signature(8), kHopper).plan().stages[0].origin == Origin::compiled);
  (void)service.prepare(fake_signature(16), kHopper);
  CHECK(world.warned("HOME is not set") == 1);
}

TEST_CASE("a cache folder that cannot be made does not stop a kernel") {
  const Folder folder;
  std::ofstream(folder.path / "file") << "not a folder";
  FakeWorld world(folder.path / "file" / "cache");
  Service service = world.service();
  CHECK(service.prepare(fake_signature(8), kHopper).plan().stages[0].origin == Origin::compiled);
  CHECK(service.prepare(fake_signature(16), kHopper).plan().stages[0].origin == Origin::compiled);
}

}  // namespace
}  // namespace kiln
