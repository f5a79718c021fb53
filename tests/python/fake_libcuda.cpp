// A libcuda for two devices that run nothing: memory is the host's, and launches are remembered.
// SPDX-License-Identifier: Apache-2.0
//
// Streams are any number; kCaptured is always being captured. fake_* is what tests ask it.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int kDevices = 2;
constexpr std::size_t kWords = 64;  // of a launch's parameters
auto* const kCaptured = reinterpret_cast<CUstream>(0xCA);

struct Launch {
  CUstream stream;
  int device;
  std::array<unsigned long long, kWords> words;
};

std::array<int, kDevices> contexts{};  // addresses stand for contexts
thread_local CUcontext current = nullptr;
thread_local int capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
Launch last{};
int launches = 0;
int retained = 0;  // primary contexts
int allocations = 0;
int strict_allocations = 0;  // made while captures forbid them

int device_of(CUcontext context) {
  return static_cast<int>(reinterpret_cast<int*>(context) - contexts.data());
}

int init(unsigned) { return 0; }
int version(int* out) { return *out = 13000, 0; }
int count(int* out) { return *out = kDevices, 0; }
int get(int* out, int ordinal) { return *out = ordinal, 0; }
int name(char* out, int size, int) {
  return std::strncpy(out, "fake", static_cast<std::size_t>(size)), 0;
}

// An H200's, as far as they are asked for.
int attribute(int* out, int which, int) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *out = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *out = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *out = 132;
      break;
    default:
      *out = 1;
  }
  return 0;
}

int retain(CUcontext* out, int device) {
  ++retained;
  *out = reinterpret_cast<CUcontext>(&contexts.at(static_cast<std::size_t>(device)));
  return 0;
}
int context_get(CUcontext* out) { return *out = current, 0; }
// One level is enough: kiln restores what it found.
thread_local CUcontext below = nullptr;
int context_push(CUcontext context) { return below = current, current = context, 0; }
int context_pop(CUcontext* out) { return *out = current, current = below, 0; }
int context_device(int* out) { return *out = device_of(current), 0; }

int error_name(int, const char** out) { return *out = "CUDA_ERROR_FAKE", 0; }
int library_load(void** out, const void*, void*, void**, unsigned, void*, void**, unsigned) {
  return *out = &launches, 0;
}
int some_handle(void** out, void*) { return *out = &launches, 0; }
int some_kernel(void** out, void*, const char*) { return *out = &launches, 0; }
int occupancy(int* out, void*, int, std::size_t, unsigned) {
  return *out = 2, current == nullptr ? CUDA_ERROR_INVALID_CONTEXT : 0;
}
int clusters(int* out, void*, const CUlaunchConfig*) {
  return *out = 66, current == nullptr ? CUDA_ERROR_INVALID_CONTEXT : 0;
}

int allocate(unsigned long long* out, std::size_t bytes) {
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  ++allocations;
  if (capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED) ++strict_allocations;
  *out = reinterpret_cast<unsigned long long>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return 0;
}
int release(unsigned long long address) {
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
int set8_async(unsigned long long address, unsigned char value, std::size_t bytes, CUstream) {
  std::memset(reinterpret_cast<void*>(address), value, bytes);
  return 0;
}

int is_capturing(CUstream stream, int* out) {
  *out = stream == kCaptured ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return 0;
}
int exchange_mode(int* mode) { return std::swap(*mode, capture_mode), 0; }

int launch(const CUlaunchConfig* config, void*, void** parameters, void**) {
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  ++launches;
  last.stream = config->hStream;
  last.device = device_of(current);
  // kiln's parameters are at least this long.
  std::memcpy(last.words.data(), parameters[0], sizeof last.words);
  return 0;
}

int encode(void*, int, unsigned, void*) {
  return current == nullptr ? CUDA_ERROR_INVALID_CONTEXT : 0;
}

int nothing() { return 0; }

struct Entry {
  std::string_view name;
  void* function;
};

template <class Function>
void* untyped(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

// cuda.h renames it to cuGetProcAddress_v2.
EXPORTED CUresult cuGetProcAddress(
    const char* asked, void** function, int, cuuint64_t, CUdriverProcAddressQueryResult* found) {
  const std::array known{
      Entry{"cuInit", untyped(init)},
      Entry{"cuDriverGetVersion", untyped(version)},
      Entry{"cuDeviceGetCount", untyped(count)},
      Entry{"cuDeviceGet", untyped(get)},
      Entry{"cuDeviceGetName", untyped(name)},
      Entry{"cuDeviceGetAttribute", untyped(attribute)},
      Entry{"cuDevicePrimaryCtxRetain", untyped(retain)},
      Entry{"cuCtxGetCurrent", untyped(context_get)},
      Entry{"cuCtxPushCurrent", untyped(context_push)},
      Entry{"cuCtxPopCurrent", untyped(context_pop)},
      Entry{"cuCtxGetDevice", untyped(context_device)},
      Entry{"cuGetErrorName", untyped(error_name)},
      Entry{"cuGetErrorString", untyped(error_name)},
      Entry{"cuLibraryLoadData", untyped(library_load)},
      Entry{"cuLibraryGetKernel", untyped(some_kernel)},
      Entry{"cuKernelGetFunction", untyped(some_handle)},
      Entry{"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", untyped(occupancy)},
      Entry{"cuOccupancyMaxActiveClusters", untyped(clusters)},
      Entry{"cuMemAlloc", untyped(allocate)},
      Entry{"cuMemFree", untyped(release)},
      Entry{"cuMemsetD8Async", untyped(set8_async)},
      Entry{"cuStreamIsCapturing", untyped(is_capturing)},
      Entry{"cuThreadExchangeStreamCaptureMode", untyped(exchange_mode)},
      Entry{"cuLaunchKernelEx", untyped(launch)},
      Entry{"cuTensorMapEncodeTiled", untyped(encode)},
  };
  const auto* entry =
      std::find_if(known.begin(), known.end(), [&](const Entry& one) { return one.name == asked; });
  *function = entry == known.end() ? untyped(nothing) : entry->function;
  *found = CU_GET_PROC_ADDRESS_SUCCESS;
  return CUDA_SUCCESS;
}

EXPORTED int fake_contexts() { return retained; }
EXPORTED int fake_launches() { return launches; }
EXPORTED int fake_allocations() { return allocations; }
EXPORTED int fake_strict_allocations() { return strict_allocations; }
EXPORTED int fake_last_device() { return last.device; }
EXPORTED unsigned long long fake_last_stream() {
  return reinterpret_cast<unsigned long long>(last.stream);
}
EXPORTED const unsigned long long* fake_last_words() { return last.words.data(); }
EXPORTED int fake_capture_mode() { return capture_mode; }
