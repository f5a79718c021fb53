// Devices as the driver reports them, and their primary contexts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <kiln/arch.hpp>

#include "src/cuda/driver.hpp"

namespace kiln {

struct DeviceProperties {
  int ordinal = 0;
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  int sm_count = 0;
  DeviceLimits limits;  // read off the device; limits.arch is what kernels are looked up under
};

// 13000 for CUDA 13.0: the newest toolkit whose code this driver runs.
[[nodiscard]] int driver_cuda_version(const Driver& driver);

// Throws Error{driver_error}.
[[nodiscard]] int count_devices(const Driver& driver);
// The ordinal of the device whose context the calling thread has; 0 when it has none. Makes no
// context. Throws Error{driver_error}.
[[nodiscard]] int current_ordinal(const Driver& driver);
// Throws Error{device_missing}, saying how many there are.
[[nodiscard]] DeviceProperties device_properties(const Driver& driver, int ordinal);
[[nodiscard]] std::vector<DeviceProperties> enumerate_devices(const Driver& driver);

// The device's attributes as limits, to compare with limits_of(): they agree but for `origin` (a
// GPU test).
[[nodiscard]] DeviceLimits read_limits(const Driver& driver, int ordinal);

// Keeps a device's primary context alive.
class PrimaryContext {
 public:
  PrimaryContext() = default;
  // Throws Error{driver_error} or Error{out_of_memory}.
  PrimaryContext(const Driver& driver, int ordinal);
  PrimaryContext(PrimaryContext&& other) noexcept;
  PrimaryContext& operator=(PrimaryContext&& other) noexcept;
  ~PrimaryContext();  // never throws; releases nothing at process exit

  [[nodiscard]] CUctx_st* get() const noexcept { return context_; }

 private:
  void release() noexcept;

  DriverRelease release_;
  int ordinal_ = 0;
  CUctx_st* context_ = nullptr;
};

// Makes a context current for a scope. Pushes only when another one is: the usual case costs one
// query.
class ContextGuard {
 public:
  ContextGuard(const Driver& driver, CUctx_st* context);
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;
  ContextGuard(ContextGuard&&) = delete;
  ContextGuard& operator=(ContextGuard&&) = delete;
  ~ContextGuard();

 private:
  const Driver& driver_;
  bool pushed_ = false;
};

}  // namespace kiln
