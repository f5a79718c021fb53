// Opening devices and allocating on them.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/device_state.hpp"

#include <cstddef>
#include <utility>

#include <cuda.h>

namespace kiln {

DeviceState::DeviceState(std::shared_ptr<const Driver> driver, int ordinal)
    : driver_(std::move(driver)) {
  DeviceProperties properties = device_properties(*driver_, ordinal);
  known_arch_ = arch_of_capability(properties.major, properties.minor).has_value();
  device_ = {.ordinal = ordinal,
             .arch = properties.limits.arch,
             .sm_count = properties.sm_count,
             .name = std::move(properties.name)};
  limits_ = known_arch_ ? limits_of(device_.arch) : properties.limits;
  driver_->check(driver_->device_get(&handle_, ordinal), "getting a device");
  driver_version_ = driver_cuda_version(*driver_);
  context_ = PrimaryContext(*driver_, ordinal);
  driver_->watch_exit();
}

std::shared_ptr<void> allocate(const std::shared_ptr<const DeviceState>& device,
                               std::int64_t bytes) {
  const Driver& driver = device->driver();
  const ContextGuard guard(driver, device->context());
  std::uint64_t address = 0;
  driver.check(driver.memory_allocate(&address, static_cast<std::size_t>(bytes)),
               "allocating device memory");
  const auto release = [device](void* data) {
    const Driver& owner = device->driver();
    if (!owner.may_release()) return;
    CUctx_st* popped = nullptr;
    if (owner.context_push(device->context()) != CUDA_SUCCESS) return;
    static_cast<void>(owner.memory_free(reinterpret_cast<std::uint64_t>(data)));
    static_cast<void>(owner.context_pop(&popped));
  };
  return {reinterpret_cast<void*>(address), release};
}

std::shared_ptr<void> allocate_zeroed(const std::shared_ptr<const DeviceState>& device,
                                      std::int64_t bytes) {
  const Driver& driver = device->driver();
  std::shared_ptr<void> data = allocate(device, bytes);
  const ContextGuard guard(driver, device->context());
  // On a stream of its own: the legacy default stream would wait for the caller's work, and a
  // stream that does not synchronise with it would not wait for the zeroes.
  CUstream_st* stream = nullptr;
  driver.check(driver.stream_create(&stream, CU_STREAM_NON_BLOCKING), "creating a stream");
  int result = driver.memory_set8_async(
      reinterpret_cast<std::uint64_t>(data.get()), 0, static_cast<std::size_t>(bytes), stream);
  if (result == CUDA_SUCCESS) result = driver.stream_synchronize(stream);
  static_cast<void>(driver.stream_destroy(stream));
  driver.check(result, "zeroing device memory");
  return data;
}

Devices::Devices(const Backends& backends) : backends_(backends) {}

const std::shared_ptr<const Driver>& Devices::driver() {
  if (!driver_) driver_ = backends_.load_driver();
  return driver_;
}

std::shared_ptr<const DeviceState> Devices::get(int ordinal) {
  const std::lock_guard lock(mutex_);
  const auto known = states_.find(ordinal);
  if (known != states_.end()) return known->second;
  auto state = std::make_shared<const DeviceState>(driver(), ordinal);
  states_.emplace(ordinal, state);
  return state;
}

int Devices::count() {
  const std::lock_guard lock(mutex_);
  return count_devices(*driver());
}

int Devices::current() {
  const std::lock_guard lock(mutex_);
  return current_ordinal(*driver());
}

}  // namespace kiln
