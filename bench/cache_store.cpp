// What the cache costs: the key of a known op, a verified hit in a folder and in a pack, a miss, a
// publish, eviction among 200,000 entries, and a process from its start to a cubin that can be
// loaded. Folders are made below TMPDIR.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kiln/arch.hpp>
#include <kiln/error.hpp>
#include <kiln/rms_norm_backward.hpp>
#include <kiln/service.hpp>

#include "bench/cache_start.hpp"
#include "cache/pack.hpp"
#include "cache/store.hpp"
#include "kernels/family.hpp"
#include "src/core/closure.hpp"
#include "src/core/digest.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

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
      ->Repetitions(kCacheRepetitions)
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

// Files of an entry's name and size, unused for three hours: eviction looks at no more than that.
void fill_with_entries(const std::string& root, int count) {
  std::array<timespec, 2> times{};
  times[0].tv_sec = times[1].tv_sec = std::time(nullptr) - 3 * 3600;
  for (int i = 0; i < count; ++i) {
    const Sha256 hash = sha256(std::to_string(i));
    const std::string name = hex(hash);
    const std::string folder = root + "/v1/e/" + name.substr(0, 2);
    const std::string path = folder + "/" + name.substr(2) + ".0123456789abcdef.k";
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_all);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ::ftruncate(fd, 14 << 10) != 0 || ::futimens(fd, times.data()) != 0) std::abort();
    ::close(fd);
  }
}

std::int64_t peak_kib() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

double cpu_ms() {
  struct timespec now {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// One gc of a fresh root; `share` of it goes.
void evict_once(benchmark::State& state, double share) {
  constexpr int kEntries = 200'000;
  for ([[maybe_unused]] auto iteration : state) {
    const Folder folder;
    const std::string root = folder / "root";
    cache::Store store(options(root));
    fill_with_entries(root, kEntries);
    fs::permissions(root, fs::perms::owner_all);
    fs::permissions(root + "/v1", fs::perms::owner_all);
    fs::permissions(root + "/v1/e", fs::perms::owner_all);
    const std::int64_t before = peak_kib();
    const double cpu = cpu_ms();
    const auto start = std::chrono::steady_clock::now();
    const cache::GcResult result = store.gc(
        {.max_bytes = 0, .shed_bytes = static_cast<std::int64_t>(share * kEntries) * (16 << 10)});
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(elapsed.count());
    state.counters["cpu_ms"] = cpu_ms() - cpu;  // another load on the machine shows beside it
    state.counters["removed"] = static_cast<double>(result.removed);
    state.counters["more_KiB"] = static_cast<double>(peak_kib() - before);
    if (result.entries != kEntries) state.SkipWithError(result.reason.c_str());
  }
}

// Nothing: there is no NVRTC to warm a cache with.
bool warm(const std::string& root) {
  Options options;
  options.policy = Policy::from_env();
  options.policy.cache_dir = root;
  options.policy.cache_layers.clear();
  Service service(options);
  const Prepared ready =
      service.prepare(RmsNormBackward{.n = 4096}.signature(), Arch::parse("sm_90a"));
  return ready.plan().stages.front().origin == Origin::compiled;
}

void add_evictions() {
  for (const auto& [name, share] : {std::pair{"gc of 200,000 entries, none goes", 0.0},
                                    std::pair{"gc of 200,000 entries, nine tenths go", 0.9}}) {
    benchmark::RegisterBenchmark(
        name, [share = share](benchmark::State& state) { evict_once(state, share); })
        ->Iterations(1)
        ->Repetitions(3)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
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
  const std::string real = folder / "real";
  if (warm(real)) {
    add_start("a process from start to cubin", real, "KILN_DISABLE_JIT=0");
    add_start("the same without NVRTC", real, "KILN_DISABLE_JIT=1");
  } else {
    std::printf("skipped the start of a process: no NVRTC to warm its cache with\n");
  }
  add_evictions();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::ClearRegisteredBenchmarks();
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--child") == 0) return kiln::start_as_child();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  return kiln::run_all();
}
