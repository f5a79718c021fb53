// The fake driver's functions.
// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include <cuda.h>

namespace kiln::fakes {
namespace {

FakeGpu* gpu = nullptr;
thread_local std::vector<CUctx_st*> contexts;

CUctx_st* context_of(int device) { return reinterpret_cast<CUctx_st*>(0x1000L + device); }

int device_attribute(int* value, int which, int device) {
  const FakeDevice& fake = gpu->devices.at(static_cast<std::size_t>(device));
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = fake.major;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = fake.minor;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = fake.sm_count;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = 232'448;
      break;
    default:
      *value = 1024;
  }
  return CUDA_SUCCESS;
}

int library_load(
    CUlib_st** library, const void* image, void*, void**, unsigned, void*, void**, unsigned) {
  const std::lock_guard lock(gpu->mutex);
  const std::string text(static_cast<const char*>(image));
  const int result = gpu->on_load ? gpu->on_load(text) : CUDA_SUCCESS;
  if (result != CUDA_SUCCESS) return result;
  gpu->loaded.push_back(text);
  *library = reinterpret_cast<CUlib_st*>(gpu->loaded.size());
  return CUDA_SUCCESS;
}

int launch(const CUlaunchConfig_st* config, CUfunc_st* function, void** parameters, void**) {
  const std::lock_guard lock(gpu->mutex);
  if (gpu->launch_result != CUDA_SUCCESS) return gpu->launch_result;
  if (gpu->launches.size() == gpu->launches.capacity()) gpu->launches.clear();
  RecordedLaunch& launched = gpu->launches.emplace_back();
  launched.stream = config->hStream;
  launched.function = function;
  launched.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
  launched.threads = config->blockDimX;
  launched.smem_bytes = config->sharedMemBytes;
  launched.context = contexts.empty() ? nullptr : contexts.back();
  std::memcpy(launched.parameters.data(), parameters[0], launched.parameters.size());
  return CUDA_SUCCESS;
}

int memory_allocate(std::uint64_t* address, std::size_t bytes) {
  const std::lock_guard lock(gpu->mutex);
  void* data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(data, 0xAB, bytes);  // never initialised, as on a device
  *address = reinterpret_cast<std::uint64_t>(data);
  gpu->memory[*address].resize(bytes);
  return CUDA_SUCCESS;
}

int memory_free(std::uint64_t address) {
  const std::lock_guard lock(gpu->mutex);
  if (gpu->memory.erase(address) == 0) return CUDA_ERROR_INVALID_VALUE;
  std::free(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}

void fill_devices(Driver& driver) {
  driver.init = [](unsigned) -> int { return CUDA_SUCCESS; };
  driver.driver_version = [](int* version) -> int {
    return *version = gpu->cuda_version, CUDA_SUCCESS;
  };
  driver.device_count = [](int* count) -> int {
    return *count = static_cast<int>(gpu->devices.size()), CUDA_SUCCESS;
  };
  driver.device_get = [](int* device, int ordinal) -> int {
    return *device = ordinal, CUDA_SUCCESS;
  };
  driver.device_name = [](char* name, int bytes, int) -> int {
    return std::strncpy(name, "fake GPU", static_cast<std::size_t>(bytes)), CUDA_SUCCESS;
  };
  driver.device_attribute = device_attribute;
  driver.primary_retain = [](CUctx_st** context, int device) -> int {
    const std::lock_guard lock(gpu->mutex);
    ++gpu->retained;
    return *context = context_of(device), CUDA_SUCCESS;
  };
  driver.primary_release = [](int) -> int {
    const std::lock_guard lock(gpu->mutex);
    return --gpu->retained, CUDA_SUCCESS;
  };
  driver.context_current = [](CUctx_st** context) -> int {
    return *context = contexts.empty() ? nullptr : contexts.back(), CUDA_SUCCESS;
  };
  driver.context_push = [](CUctx_st* context) -> int {
    const std::lock_guard lock(gpu->mutex);
    ++gpu->pushes;
    return contexts.push_back(context), CUDA_SUCCESS;
  };
  driver.context_pop = [](CUctx_st** context) -> int {
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    *context = contexts.back();
    return contexts.pop_back(), CUDA_SUCCESS;
  };
  driver.context_device = [](int* device) -> int {
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    *device = static_cast<int>(reinterpret_cast<std::intptr_t>(contexts.back()) - 0x1000);
    return CUDA_SUCCESS;
  };
  driver.context_synchronize = []() -> int { return ++gpu->synchronisations, CUDA_SUCCESS; };
}

void fill_code(Driver& driver) {
  driver.library_load = library_load;
  driver.library_unload = [](CUlib_st*) -> int {
    const std::lock_guard lock(gpu->mutex);
    return ++gpu->unloads, CUDA_SUCCESS;
  };
  driver.library_kernel = [](CUkern_st** kernel, CUlib_st* library, const char*) -> int {
    return *kernel = reinterpret_cast<CUkern_st*>(library), CUDA_SUCCESS;
  };
  driver.kernel_function = [](CUfunc_st** function, CUkern_st* kernel) -> int {
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    return *function = reinterpret_cast<CUfunc_st*>(kernel), CUDA_SUCCESS;
  };
  driver.kernel_set_attribute = [](int, int value, CUkern_st*, int) -> int {
    const std::lock_guard lock(gpu->mutex);
    return gpu->allowed_smem.push_back(value), CUDA_SUCCESS;
  };
  driver.kernel_attribute = [](int* value, int, CUkern_st*, int) -> int {
    return *value = 0, CUDA_SUCCESS;
  };
  driver.occupancy = [](int* ctas, CUfunc_st*, int, std::size_t, unsigned) -> int {
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    return *ctas = gpu->resident_ctas, CUDA_SUCCESS;
  };
  driver.occupancy_clusters = [](int* clusters, CUfunc_st*, const CUlaunchConfig_st*) -> int {
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    return *clusters = gpu->resident_clusters, CUDA_SUCCESS;
  };
  driver.tensor_map_encode = [](void* map,
                                int,
                                unsigned rank,
                                void* address,
                                const std::uint64_t* shape,
                                const std::uint64_t*,
                                const unsigned*,
                                const unsigned*,
                                int,
                                int,
                                int,
                                int) -> int {
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    // What the fake "encodes": the address, the rank and the shape, so that tests can look.
    auto* words = static_cast<std::uint64_t*>(map);
    words[0] = reinterpret_cast<std::uint64_t>(address);
    words[1] = rank;
    for (unsigned i = 0; i < rank; ++i) words[2 + i] = shape[i];
    return CUDA_SUCCESS;
  };
  driver.launch = launch;
}

void fill_memory(Driver& driver) {
  driver.memory_allocate = memory_allocate;
  driver.memory_free = memory_free;
  driver.memory_set8_async =
      [](std::uint64_t address, unsigned char value, std::size_t bytes, CUstream_st*) -> int {
    return std::memset(reinterpret_cast<void*>(address), value, bytes), CUDA_SUCCESS;
  };
  driver.stream_create = [](CUstream_st** stream, unsigned) -> int {
    return *stream = reinterpret_cast<CUstream_st*>(0x77), CUDA_SUCCESS;
  };
  driver.stream_destroy = [](CUstream_st*) -> int { return CUDA_SUCCESS; };
  driver.stream_synchronize = [](CUstream_st*) -> int {
    return ++gpu->synchronisations, CUDA_SUCCESS;
  };
  driver.error_name = [](int, const char** text) -> int {
    return *text = "CUDA_ERROR_FAKE", CUDA_SUCCESS;
  };
  driver.error_string = [](int, const char** text) -> int {
    return *text = "a fake error", CUDA_SUCCESS;
  };
}

}  // namespace

FakeGpu::FakeGpu(std::vector<FakeDevice> present) : devices(std::move(present)) {
  launches.reserve(1024);
  contexts.clear();
  older_ = gpu;
  gpu = this;
}

FakeGpu::~FakeGpu() { gpu = older_; }

std::shared_ptr<const Driver> FakeGpu::driver() const {
  auto driver = std::make_shared<Driver>();
  fill_devices(*driver);
  fill_code(*driver);
  fill_memory(*driver);
  return driver;
}

}  // namespace kiln::fakes
