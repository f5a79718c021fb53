// A device in use: its primary context, retained once, its limits, and memory on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <kiln/arch.hpp>
#include <kiln/service.hpp>

#include "src/cuda/device.hpp"
#include "src/cuda/driver.hpp"
#include "src/service/backends.hpp"

namespace kiln {

// Holds the primary context until the last prepared kernel, launch and service are gone.
class DeviceState {
 public:
  // Throws Error{device_missing}.
  DeviceState(std::shared_ptr<const Driver> driver, int ordinal);

  [[nodiscard]] const Driver& driver() const noexcept { return *driver_; }
  [[nodiscard]] const std::shared_ptr<const Driver>& shared_driver() const noexcept {
    return driver_;
  }
  [[nodiscard]] const Device& device() const noexcept { return device_; }
  // The table's for an architecture kiln knows, else read off the device.
  [[nodiscard]] const DeviceLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] bool known_arch() const noexcept { return known_arch_; }
  [[nodiscard]] int handle() const noexcept { return handle_; }
  [[nodiscard]] CUctx_st* context() const noexcept { return context_.get(); }
  // As cuDriverGetVersion gives it: 13000.
  [[nodiscard]] int driver_version() const noexcept { return driver_version_; }
  [[nodiscard]] int driver_cuda_major() const noexcept { return driver_version_ / 1000; }

 private:
  std::shared_ptr<const Driver> driver_;  // outlives the context
  PrimaryContext context_;
  Device device_;
  DeviceLimits limits_;
  bool known_arch_ = false;
  int handle_ = 0;
  int driver_version_ = 0;
};

// 256-byte aligned device memory, which keeps the device open. Throws Error{out_of_memory}.
[[nodiscard]] std::shared_ptr<void> allocate(const std::shared_ptr<const DeviceState>& device,
                                             std::int64_t bytes);
// Zero when this returns, whichever stream uses it next.
[[nodiscard]] std::shared_ptr<void> allocate_zeroed(
    const std::shared_ptr<const DeviceState>& device, std::int64_t bytes);

// Devices of one service, each opened at the first call that needs it.
class Devices {
 public:
  explicit Devices(const Backends& backends);

  [[nodiscard]] std::shared_ptr<const DeviceState> get(int ordinal);
  [[nodiscard]] int count();
  // The ordinal of the calling thread's current context; 0 when there is none.
  [[nodiscard]] int current();

 private:
  [[nodiscard]] const std::shared_ptr<const Driver>& driver();

  const Backends& backends_;
  std::mutex mutex_;
  std::shared_ptr<const Driver> driver_;
  std::map<int, std::shared_ptr<const DeviceState>> states_;
};

}  // namespace kiln
