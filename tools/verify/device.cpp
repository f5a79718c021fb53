// Owners of device state. Destructors do not throw: a device that is gone has nothing left to free.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/device.hpp"

#include <utility>

#include <cuda.h>

namespace kiln::verify {

CurrentDevice::CurrentDevice(const Driver& driver, int ordinal) : driver_(driver) {
  driver.check(driver.device_get(&device_, ordinal), "getting the device");
  CUctx_st* context = nullptr;
  driver.check(driver.primary_retain(&context, device_), "retaining the device's primary context");
  const int pushed = driver.context_push(context);
  if (pushed != CUDA_SUCCESS) driver.primary_release(device_);
  driver.check(pushed, "making the device's context current");
}

CurrentDevice::~CurrentDevice() {
  if (!driver_.may_release()) return;
  CUctx_st* context = nullptr;
  driver_.context_pop(&context);
  driver_.primary_release(device_);
}

Stream::Stream(const Driver& driver) : driver_(driver) {
  driver.check(driver.stream_create(&stream_, CU_STREAM_NON_BLOCKING), "creating a stream");
}

Stream::~Stream() {
  if (driver_.may_release()) driver_.stream_destroy(stream_);
}

void Stream::synchronize(const char* doing) const {
  driver_.check(driver_.stream_synchronize(stream_), doing);
}

Event::Event(const Driver& driver) : driver_(driver) {
  driver.check(driver.event_create(&event_, CU_EVENT_DEFAULT), "creating an event");
}

Event::Event(Event&& other) noexcept
    : driver_(other.driver_), event_(std::exchange(other.event_, nullptr)) {}

Event::~Event() {
  if (event_ != nullptr && driver_.may_release()) driver_.event_destroy(event_);
}

void Event::record(CUstream_st* stream) const {
  driver_.check(driver_.event_record(event_, stream), "recording an event");
}

double Event::microseconds_since(const Event& start) const {
  driver_.check(driver_.event_synchronize(event_), "waiting for a timed launch");
  float milliseconds = 0;
  driver_.check(driver_.event_elapsed(&milliseconds, start.event_, event_), "reading an event");
  return 1e3 * static_cast<double>(milliseconds);
}

Block::Block(const Driver& driver, std::int64_t bytes) : driver_(driver), bytes_(bytes) {
  // The driver refuses to allocate nothing.
  const auto size = static_cast<std::size_t>(bytes > 0 ? bytes : 1);
  driver.check(driver.memory_allocate(&address_, size), "allocating device memory");
}

Block::Block(Block&& other) noexcept
    : driver_(other.driver_),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Block::~Block() {
  if (address_ != 0 && driver_.may_release()) driver_.memory_free(address_);
}

void Block::upload(std::span<const std::byte> bytes, std::int64_t offset) const {
  if (bytes.empty()) return;
  driver_.check(driver_.copy_to_device(
                    address_ + static_cast<std::uint64_t>(offset), bytes.data(), bytes.size()),
                "copying data to the device");
  driver_.check(driver_.context_synchronize(), "copying data to the device");
}

std::vector<std::byte> Block::download() const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_));
  if (!bytes.empty()) {
    driver_.check(driver_.copy_to_host(bytes.data(), address_, bytes.size()),
                  "copying results to the host");
  }
  return bytes;
}

void Block::fill(unsigned char value) const {
  if (bytes_ == 0) return;
  driver_.check(driver_.memory_set8(address_, value, static_cast<std::size_t>(bytes_)),
                "filling device memory");
  driver_.check(driver_.context_synchronize(), "filling device memory");
}

}  // namespace kiln::verify
