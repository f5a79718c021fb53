// Device time of launches with a cold L2, beside a device copy of the same bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/policy.hpp>

#include "src/cuda/driver.hpp"
#include "tools/verify/device.hpp"

namespace kiln::verify {

struct Timing {
  double microseconds = 0;  // median
  double fastest = 0;
  double slowest = 0;
  double copy_microseconds = 0;  // median of the copies between the launches
  double gigabytes_per_second = 0;
  double ratio_to_copy = 0;  // copy time over launch time: 1 is as fast as a copy
  int repetitions = 0;
};

struct TimingOptions {
  int warm_up = 3;
  int repetitions = 25;
};

// Kernels the method needs, compiled by NVRTC when made: one reads a clean buffer larger than the
// L2 before every timed launch (a fill would leave dirty lines that are written back inside the
// timed region), one spins so that the host is always ahead of the device. The device's context
// must be current; `driver` must outlive this.
class Timer {
 public:
  // Throws Error{nvrtc_missing}, Error{compile_failed}, Error{out_of_memory}.
  Timer(const Driver& driver,
        const Arch& arch,
        const Policy& policy,
        const std::vector<std::string>& nvrtc_folders);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Interleaves `launch` with copies that read and write `bytes` in all. Throws what a launch
  // throws.
  [[nodiscard]] Timing measure(const std::function<void(CUstream_st*)>& launch,
                               std::int64_t bytes,
                               const TimingOptions& options = {});

 private:
  [[nodiscard]] double time_cold(const std::function<void(CUstream_st*)>& work);

  const Driver& driver_;
  Stream stream_;
  Block clean_;
  Event start_, end_;
  CUlib_st* library_ = nullptr;
  CUfunc_st* read_ = nullptr;
  CUfunc_st* spin_ = nullptr;
};

}  // namespace kiln::verify
