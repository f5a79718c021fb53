// What the cache costs a start: the key of a known op, a verified hit in a folder and in a pack, a
// miss, and a publish. Folders are made below TMPDIR.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include <kiln/arch.hpp>
#include <kiln/rms_norm_backward.hpp>

#include "cache/pack.hpp"
#include "cache/store.hpp"
#include "kernels/family.hpp"
#include "src/core/closure.hpp"
#include "src/core/digest.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr int kRepetitions = 9;
constexpr std::size_t kCubinBytes = 20 << 10;

// Half as large when it is compressed, as cubins are.
Cubin cubin_of(std::uint32_t seed) {
  Cubin cubin{{}, "entry", 64, 0, 0, 0};
  cubin.image.resize(kCubinBytes);
  for (std::byte& byte : cubin.image) {
    seed = seed * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(seed >> 28U);
  }
  return cubin;
}

// The line from a signature to a key, as a service goes it.
Key key_of(const Headers& headers, const Signature& signature, const DeviceLimits& limits) {
  const Family& family = find_family(signature.op);
  const Plan plan = std::get<Plan>(family.plan(signature, limits, Policy{}));
  const Closure closure = headers.close(family.emit(plan, 0));
  const Key key = make_key(
      family.name, family.emitter_version, closure, CompileOptions::standard(), limits.arch);
  return with_toolchain(key, {13, 0, std::string(40, 'a'), std::string(40, 'b')});
}

// Another kernel of the same size.
Key numbered(Key key, int number) {
  key.fields.push_back({"number", std::to_string(number)});
  return key;
}

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "kiln-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

cache::StoreOptions options(std::string root, std::vector<std::string> layers = {}) {
  cache::StoreOptions options;
  options.root = std::move(root);
  options.layers = std::move(layers);
  return options;
}

void add(const char* name, std::function<void(benchmark::State&)> body) {
  benchmark::RegisterBenchmark(name, std::move(body))
      ->Repetitions(kRepetitions)
      ->ReportAggregatesOnly()
      ->Unit(benchmark::kMicrosecond);
}

void find_all(benchmark::State& state, cache::Store& store, const Key& key, bool there) {
  for ([[maybe_unused]] auto iteration : state) {
    const std::optional<cache::Found> found = store.find(key);
    if (found.has_value() != there) state.SkipWithError("not what was expected");
    benchmark::DoNotOptimize(found);
  }
}

int run_all() {
  const Signature signature = RmsNormBackward{.n = 4096}.signature();
  const DeviceLimits limits = limits_of(Arch::parse("sm_90a"));
  const Headers headers(embedded_files());
  const Key key = key_of(headers, signature, limits);
  const Folder folder;
  cache::Store store(options(folder / "root"));
  if (store.put(key, cubin_of(1), "op", "s") != cache::PutResult::stored) std::abort();
  const std::string pack = folder / "one.kpack";
  if (const auto problem =
          cache::write_pack(pack, {.sources = {{digest(key), store.find(key)->path}}})) {
    std::fprintf(stderr, "%s\n", problem->text.c_str());
    return 1;
  }
  cache::Store packed(options({}, {pack}));
  cache::Store layered(options({}, {folder / "root"}));
  const Key other = numbered(key, 0);

  add("key of a known op", [&](benchmark::State& state) {
    for ([[maybe_unused]] auto iteration : state)
      benchmark::DoNotOptimize(digest(key_of(headers, signature, limits)));
  });
  add("verified hit, 20 KB, folder", [&](auto& state) { find_all(state, store, key, true); });
  add("verified hit, 20 KB, read-only folder",
      [&](auto& state) { find_all(state, layered, key, true); });
  add("verified hit, 20 KB, pack", [&](auto& state) { find_all(state, packed, key, true); });
  add("miss", [&](auto& state) { find_all(state, store, other, false); });
  add("publish, 20 KB", [&, number = 0](benchmark::State& state) mutable {
    const Cubin cubin = cubin_of(2);
    for ([[maybe_unused]] auto iteration : state) {
      if (store.put(numbered(key, ++number), cubin, "op", "s") != cache::PutResult::stored)
        state.SkipWithError("not stored");
    }
  });
  benchmark::RunSpecifiedBenchmarks();
  benchmark::ClearRegisteredBenchmarks();
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  return kiln::run_all();
}
