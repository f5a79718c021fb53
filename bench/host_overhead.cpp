// What kiln costs the host: a prepare that memory answers, and Launch::run beside the bare driver
// calls it makes.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <cuda.h>

#include <kiln/error.hpp>
#include <kiln/rms_norm_backward.hpp>
#include <kiln/service.hpp>

#include "src/cuda/device.hpp"
#include "src/service/backends.hpp"

namespace kiln {
namespace {

constexpr int kSkipped = 77;       // as the GPU tests
constexpr std::int64_t kRows = 4;  // little work for the GPU: the host is what is measured
// Launches between two waits: fewer than the driver queues before a launch itself waits.
constexpr int kBatch = 64;
constexpr int kBatches = 400;
constexpr int kRepetitions = 9;

// One launch as the driver got it, repeatable without kiln.
struct BareCall {
  CUlaunchConfig config{};
  std::vector<CUlaunchAttribute> attributes;
  CUfunc_st* function = nullptr;
  std::vector<std::byte> parameters;
};

std::vector<BareCall>* recording = nullptr;

int record(const CUlaunchConfig_st* config, CUfunc_st* function, void** parameters, void**) {
  BareCall& call = recording->emplace_back();
  call.config = *config;
  call.attributes.assign(config->attrs, config->attrs + config->numAttrs);
  call.function = function;
  const auto* bytes = static_cast<const std::byte*>(parameters[0]);
  call.parameters.assign(bytes, bytes + KernelCall::kMaxParameterBytes);
  return CUDA_SUCCESS;
}

// The driver calls of one run, and the launch whose memory they use.
struct Bare {
  std::vector<BareCall> calls;
  Launch launch;
};

// A service on a device, a stream, and memory for arguments.
class Bench {
 public:
  Bench()
      : driver_(std::make_shared<Driver>(Driver::load())), service_(options(), backends(driver_)) {
    device_ = service_.device(0);
    context_ = PrimaryContext(*driver_, 0);
    driver_->check(driver_->context_push(context_.get()), "making the device's context current");
    driver_->check(driver_->stream_create(&stream_, CU_STREAM_NON_BLOCKING), "creating a stream");
  }

  [[nodiscard]] Service& service() noexcept { return service_; }
  [[nodiscard]] const Device& device() const noexcept { return device_; }
  [[nodiscard]] CUstream_st* stream() const noexcept { return stream_; }
  [[nodiscard]] const Driver& driver() const noexcept { return *driver_; }

  [[nodiscard]] Launch bind(const RmsNormBackward& op) {
    const std::int64_t bytes = kRows * op.n * 4;
    RmsNormBackward::Arguments arguments;
    arguments.rows = kRows;
    arguments.dy = allocate(bytes);
    arguments.x = allocate(bytes);
    arguments.rstd = static_cast<const float*>(allocate(bytes));
    arguments.dx = allocate(bytes);
    if (op.w) arguments.w = allocate(bytes);
    if (op.w) arguments.dw = allocate(bytes);
    return service_.prepare(op.signature(), device_).bind(op.arguments(arguments));
  }

  [[nodiscard]] Bare bind_bare(const RmsNormBackward& op) {
    Bare bare;
    const auto real = std::exchange(driver_->launch, record);
    recording = &bare.calls;
    bare.launch = bind(op);
    bare.launch.run(stream_);
    driver_->launch = real;
    for (BareCall& call : bare.calls) call.config.attrs = call.attributes.data();
    return bare;
  }

 private:
  static Options options() {
    Options options;
    options.policy = Policy::from_env();
    return options;
  }
  static Backends backends(std::shared_ptr<const Driver> driver) {
    Backends backends = Backends::real();
    backends.load_driver = [driver = std::move(driver)] { return driver; };
    return backends;
  }
  // Zeroed; kept for the life of the process.
  [[nodiscard]] void* allocate(std::int64_t bytes) {
    std::uint64_t address = 0;
    const auto size = static_cast<std::size_t>(bytes);
    driver_->check(driver_->memory_allocate(&address, size), "allocating");
    driver_->check(driver_->memory_set8(address, 0, size), "zeroing");
    driver_->check(driver_->context_synchronize(), "zeroing");
    return reinterpret_cast<void*>(address);
  }

  std::shared_ptr<Driver> driver_;
  Service service_;
  Device device_;
  PrimaryContext context_;
  CUstream_st* stream_ = nullptr;
};

// Times single host calls in batches, with the GPU idle at the start of each.
void time_batches(benchmark::State& state, const Bench& bench, const std::function<void()>& call) {
  for ([[maybe_unused]] auto iteration : state) {
    bench.driver().check(bench.driver().stream_synchronize(bench.stream()), "waiting");
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kBatch; ++i) call();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(elapsed.count() / kBatch);
  }
}

void add_launches(Bench& bench, const std::string& name, const RmsNormBackward& op) {
  auto launch = std::make_shared<Launch>(bench.bind(op));
  auto bare = std::make_shared<Bare>(bench.bind_bare(op));
  const auto settle = [](benchmark::internal::Benchmark* added) {
    added->UseManualTime()->Iterations(kBatches)->Repetitions(kRepetitions)->ReportAggregatesOnly();
  };
  settle(benchmark::RegisterBenchmark(
      ("bare driver, " + name).c_str(), [&bench, bare](benchmark::State& state) {
        time_batches(state, bench, [&] {
          for (BareCall& call : bare->calls) {
            void* parameters[] = {call.parameters.data()};
            bench.driver().check(
                bench.driver().launch(&call.config, call.function, parameters, nullptr),
                "launching");
          }
        });
      }));
  settle(benchmark::RegisterBenchmark(
      ("Launch::run, " + name).c_str(), [&bench, launch](benchmark::State& state) {
        time_batches(state, bench, [&] { launch->run(bench.stream()); });
      }));
}

// The map in front of everything: the same code for a device and for an architecture.
void add_prepare_hit(const std::string& name, std::function<void()> prepare) {
  prepare();
  benchmark::RegisterBenchmark(name.c_str(),
                               [prepare = std::move(prepare)](benchmark::State& state) {
                                 for ([[maybe_unused]] auto iteration : state) prepare();
                               })
      ->Repetitions(kRepetitions)
      ->ReportAggregatesOnly();
}

std::optional<std::string> why_no_device() {
  try {
    if (count_devices(Driver::load()) > 0) return std::nullopt;
    return "the driver sees no device";
  } catch (const Error& error) {
    return error.detail;
  }
}

int run_all() {
  const RmsNormBackward op{.n = 4096};
  const Signature signature = op.signature();
  const std::optional<std::string> reason = why_no_device();
  if (reason) {
    Options options;
    options.policy.disable_jit = true;  // composed: a hit is a hit
    options.policy.log_level = LogLevel::off;
    Service service(options);
    const Arch arch = Arch::parse("sm_90a");
    add_prepare_hit("prepare, in memory",
                    [&] { benchmark::DoNotOptimize(service.prepare(signature, arch)); });
    benchmark::RunSpecifiedBenchmarks();
    std::printf("skipped what needs a GPU: %s\n", reason->c_str());
    return kSkipped;
  }
  Bench bench;
  add_prepare_hit("prepare, in memory", [&] {
    benchmark::DoNotOptimize(bench.service().prepare(signature, bench.device()));
  });
  add_launches(bench, "cooperative kernel", op);
  add_launches(bench, "plain kernel", {.n = 4096, .w = std::nullopt});
  benchmark::RunSpecifiedBenchmarks();
  benchmark::ClearRegisteredBenchmarks();  // they hold launches, which the bench must outlive
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    return kiln::run_all();
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
