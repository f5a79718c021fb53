// The backends of a fake world.
// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_service.hpp"

#include <algorithm>
#include <cstring>

namespace kiln::fakes {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size() + 1);  // terminated: the fake driver reads it as text
  std::memcpy(bytes.data(), text.c_str(), bytes.size());
  return bytes;
}

CompileResult compiled(FakeWorld& world, const CompileRequest& request) {
  const int number = ++world.compiles;
  if (world.on_compile) world.on_compile(request);
  CompileResult result;
  result.cubin.image = bytes_of(world.image + " " + std::to_string(number));
  result.cubin.entry = request.closure.source.entry;
  result.cubin.registers = 32;
  result.cubin.static_smem_bytes = 48;
  result.ms = 12.5;
  return result;
}

ToolchainSearch found(FakeWorld& world) {
  ++world.searches;
  if (!world.nvrtc_present) return {.found = std::nullopt, .tried = {"/nowhere: no libnvrtc"}};
  return {.found = ToolchainFiles{.id = {13, 0, world.nvrtc_id, "bb"},
                                  .nvrtc_path = "/fake/libnvrtc.so.13",
                                  .builtins_path = "/fake/libnvrtc-builtins.so.13.0",
                                  .found_by = "a fake"},
          .tried = {}};
}

}  // namespace

Backends FakeWorld::backends() {
  Backends backends;
  backends.load_driver = [this] {
    if (!driver_present) throw Error(ErrorCode::driver_missing, "libcuda.so.1 cannot be loaded");
    return gpu.driver();
  };
  backends.find_toolchain = [this](const Policy&,
                                   const std::vector<std::string>&,
                                   std::optional<int>) { return found(*this); };
  backends.load_nvrtc = [this](const ToolchainFiles& files) {
    if (!nvrtc_loads) throw Error(ErrorCode::nvrtc_missing, "libnvrtc.so.13 cannot be loaded");
    ++nvrtc_loads_done;
    auto nvrtc = std::make_shared<Nvrtc>();
    nvrtc->id = files.id;
    nvrtc->uncacheable_reason = uncacheable_reason;
    return nvrtc;
  };
  backends.compile = [this](const Nvrtc&, const CompileRequest& request) {
    return compiled(*this, request);
  };
  backends.make_store = [](cache::StoreOptions store_options) {
    return std::make_unique<cache::Store>(std::move(store_options));
  };
  backends.find_family = [](std::string_view) -> const Family& { return fake_family(); };
  backends.find_composed = &fake_composed;
  backends.embedded_files = [] { return std::span<const EmbeddedFile>(); };
  return backends;
}

Options FakeWorld::logged() {
  Options logging = options;
  logging.log = [this](LogLevel level, std::string_view text) {
    const std::lock_guard lock(log_mutex);
    if (level >= LogLevel::warn) warnings.emplace_back(text);
  };
  return logging;
}

int FakeWorld::warned(std::string_view piece) {
  const std::lock_guard lock(log_mutex);
  return static_cast<int>(
      std::count_if(warnings.begin(), warnings.end(), [&](const std::string& text) {
        return text.find(piece) != std::string::npos;
      }));
}

}  // namespace kiln::fakes
