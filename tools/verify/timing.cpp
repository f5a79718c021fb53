// Timing with events behind a cache-evicting read and a device-side delay.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/timing.hpp"

#include <algorithm>

#include <cuda.h>

#include "tools/verify/timing_kernels.hpp"

namespace kiln::verify {
namespace {

// Ten times the L2 of sm_90 (50 MiB), four times that of sm_100 (126 MB).
constexpr std::int64_t kCleanBytes = 512ll << 20;
// About 25 microseconds at 2 GHz: longer than the host needs to issue a timed call.
constexpr long long kSpinCycles = 50'000;
constexpr unsigned kReadBlocks = 1024;
constexpr unsigned kReadThreads = 256;

CUfunc_st* function(const Driver& driver, CUlib_st* library, const char* name) {
  CUkern_st* kernel = nullptr;
  driver.check(driver.library_kernel(&kernel, library, name), "finding a timing kernel");
  CUfunc_st* found = nullptr;
  driver.check(driver.kernel_function(&found, kernel), "getting a timing kernel");
  return found;
}

void launch(const Driver& driver,
            CUfunc_st* kernel,
            unsigned blocks,
            unsigned threads,
            CUstream_st* stream,
            void** parameters) {
  CUlaunchConfig config{};
  config.gridDimX = blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  driver.check(driver.launch(&config, kernel, parameters, nullptr), "launching a timing kernel");
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

Timer::Timer(const Driver& driver,
             const Arch& arch,
             const Policy& policy,
             const std::vector<std::string>& nvrtc_folders)
    : driver_(driver), stream_(driver), clean_(driver, kCleanBytes), start_(driver), end_(driver) {
  clean_.fill(0);
  int version = 0;
  driver.check(driver.driver_version(&version), "asking for the driver's version");
  const Cubin cubin = compile_timing_kernels(arch, policy, nvrtc_folders, version / 1000);
  driver.check(
      driver.library_load(&library_, cubin.image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "loading the timing kernels");
  read_ = function(driver, library_, kReadKernel);
  spin_ = function(driver, library_, kSpinKernel);
}

Timer::~Timer() {
  driver_.stream_synchronize(stream_.get());
  if (library_ != nullptr) driver_.library_unload(library_);
}

double Timer::time_cold(const std::function<void(CUstream_st*)>& work) {
  std::uint64_t data = clean_.address();
  long long count = kCleanBytes / 16;
  std::uint64_t sink = clean_.address();
  void* read_parameters[] = {&data, &count, &sink};
  launch(driver_, read_, kReadBlocks, kReadThreads, stream_.get(), read_parameters);
  long long cycles = kSpinCycles;
  void* spin_parameters[] = {&cycles};
  launch(driver_, spin_, 1, 1, stream_.get(), spin_parameters);
  start_.record(stream_.get());
  work(stream_.get());
  end_.record(stream_.get());
  return end_.microseconds_since(start_);
}

Timing Timer::measure(const std::function<void(CUstream_st*)>& work,
                      std::int64_t bytes,
                      const TimingOptions& options) {
  const std::int64_t half = std::max<std::int64_t>(bytes / 2, 1);
  const Block from(driver_, half);
  const Block to(driver_, half);
  from.fill(0x3C);
  const auto copy = [&](CUstream_st* stream) {
    driver_.check(driver_.copy_on_device_async(
                      to.address(), from.address(), static_cast<std::size_t>(half), stream),
                  "copying on the device");
  };
  std::vector<double> times;
  std::vector<double> copies;
  for (int i = -options.warm_up; i < options.repetitions; ++i) {
    const double time = time_cold(work);
    const double copied = time_cold(copy);
    if (i < 0) continue;
    times.push_back(time);
    copies.push_back(copied);
  }
  Timing timing;
  timing.repetitions = options.repetitions;
  timing.microseconds = median(times);
  timing.fastest = *std::min_element(times.begin(), times.end());
  timing.slowest = *std::max_element(times.begin(), times.end());
  timing.copy_microseconds = median(copies);
  timing.gigabytes_per_second = static_cast<double>(bytes) / timing.microseconds / 1e3;
  timing.ratio_to_copy = timing.copy_microseconds / timing.microseconds;
  return timing;
}

}  // namespace kiln::verify
