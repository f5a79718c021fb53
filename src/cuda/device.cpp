// Attributes of devices, and contexts.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/device.hpp"

#include <cuda.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln {
namespace {

// The portable cluster size of every architecture with clusters; the driver has no attribute for
// it.
constexpr int kPortableClusterCtas = 8;
// Of every compute capability since 3.5; no attribute either.
constexpr int kRegistersPerThread = 255;

int attribute(const Driver& driver, int device, CUdevice_attribute which) {
  int value = 0;
  const int result = driver.device_attribute(&value, static_cast<int>(which), device);
  if (result != CUDA_SUCCESS) {
    const std::string doing =
        fmt::format("reading attribute {} of device {}", static_cast<int>(which), device);
    driver.check(result, doing.c_str());
  }
  return value;
}

int handle_of(const Driver& driver, int ordinal) {
  int device = 0;
  const int count = count_devices(driver);
  if (ordinal < 0 || ordinal >= count) {
    throw Error(
        ErrorCode::device_missing,
        fmt::format(
            "there is no device {}: the driver sees {} (CUDA_VISIBLE_DEVICES may hide some)",
            ordinal,
            count));
  }
  driver.check(driver.device_get(&device, ordinal), "getting a device");
  return device;
}

}  // namespace

int driver_cuda_version(const Driver& driver) {
  int version = 0;
  driver.check(driver.driver_version(&version), "asking for the driver's version");
  return version;
}

int count_devices(const Driver& driver) {
  int count = 0;
  const int result = driver.device_count(&count);
  if (result == CUDA_ERROR_NO_DEVICE) return 0;
  driver.check(result, "counting devices");
  return count;
}

int current_ordinal(const Driver& driver) {
  CUctx_st* context = nullptr;
  if (driver.context_current(&context) != CUDA_SUCCESS || context == nullptr) return 0;
  int handle = 0;
  driver.check(driver.context_device(&handle), "asking for the current context's device");
  const int count = count_devices(driver);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int candidate = 0;
    driver.check(driver.device_get(&candidate, ordinal), "getting a device");
    if (candidate == handle) return ordinal;
  }
  return 0;
}

DeviceLimits read_limits(const Driver& driver, int ordinal) {
  const int device = handle_of(driver, ordinal);
  const auto get = [&](CUdevice_attribute which) { return attribute(driver, device, which); };
  const int major = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  const bool clusters = get(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0;
  return {
      .arch = arch_of_capability(major, minor).value_or(Arch{major, minor, '\0'}),
      .smem_per_cta_bytes = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
      .smem_per_sm_bytes = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
      .smem_reserved_per_cta_bytes = get(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
      .registers_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
      .registers_per_thread = kRegistersPerThread,
      .threads_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
      .threads_per_cta = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
      .ctas_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
      .max_cluster_ctas = clusters ? kPortableClusterCtas : 0,
      .bulk_copy = major >= 9,
      .origin = "the device's attributes",
  };
}

DeviceProperties device_properties(const Driver& driver, int ordinal) {
  const int device = handle_of(driver, ordinal);
  std::array<char, 256> name{};
  driver.check(driver.device_name(name.data(), static_cast<int>(name.size()) - 1, device),
               "asking for a device's name");
  return {
      .ordinal = ordinal,
      .name = name.data(),
      .major = attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
      .minor = attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
      .sm_count = attribute(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
      .limits = read_limits(driver, ordinal),
  };
}

std::vector<DeviceProperties> enumerate_devices(const Driver& driver) {
  std::vector<DeviceProperties> devices;
  const int count = count_devices(driver);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    devices.push_back(device_properties(driver, ordinal));
  }
  return devices;
}

PrimaryContext::PrimaryContext(const Driver& driver, int ordinal) : release_(driver.release()) {
  ordinal_ = handle_of(driver, ordinal);
  const int result = driver.primary_retain(&context_, ordinal_);
  if (result == CUDA_SUCCESS) return;
  const std::string doing = fmt::format("opening device {}", ordinal);
  driver.check(result, doing.c_str());
}

PrimaryContext::PrimaryContext(PrimaryContext&& other) noexcept
    : release_(other.release_),
      ordinal_(other.ordinal_),
      context_(std::exchange(other.context_, nullptr)) {}

PrimaryContext& PrimaryContext::operator=(PrimaryContext&& other) noexcept {
  if (this == &other) return *this;
  release();
  release_ = other.release_;
  ordinal_ = other.ordinal_;
  context_ = std::exchange(other.context_, nullptr);
  return *this;
}

PrimaryContext::~PrimaryContext() { release(); }

void PrimaryContext::release() noexcept {
  if (context_ != nullptr && release_.primary_release != nullptr && release_.allowed()) {
    (void)release_.primary_release(ordinal_);
  }
  context_ = nullptr;
}

ContextGuard::ContextGuard(const Driver& driver, CUctx_st* context) : driver_(driver) {
  CUctx_st* current = nullptr;
  driver.check(driver.context_current(&current), "asking for the current context");
  if (current == context) return;
  driver.check(driver.context_push(context), "making a device's context current");
  pushed_ = true;
}

ContextGuard::~ContextGuard() {
  if (!pushed_) return;
  CUctx_st* popped = nullptr;
  (void)driver_.context_pop(&popped);
}

}  // namespace kiln
