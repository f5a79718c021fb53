// Loading the driver, and its errors in words.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/driver.hpp"

#include <stdlib.h>

#include <cuda.h>

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln {
namespace {

// Entry points are asked for by the base name with this version, so the driver gives the ABI of
// that version whatever it is itself. 12.8 and not 13.0, which changes cuCtxGetDevice and
// cuCtxSynchronize (they take a context); a fixed number and not CUDA_VERSION, so that the headers
// compiled against do not matter. The newest of ours, cuEventElapsedTime, is of 12.8.
constexpr int kDriverAbi = 12080;

constexpr const char* kLibrary = "libcuda.so.1";
constexpr const char* kUpdate =
    "Install NVIDIA's driver 580 or newer (it runs what CUDA 13.0 compiles); on a machine without "
    "an NVIDIA GPU, "
    "`kiln warm --arch` still compiles and caches";

using GetProcAddress =
    CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

// Null's stream is the legacy default stream, whatever this is compiled with.
constexpr cuuint64_t kLegacyStream = CU_GET_PROC_ADDRESS_LEGACY_STREAM;

[[noreturn]] void missing(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::driver_missing,
              fmt::format("the CUDA driver {} cannot be used: {}. {}", path, why, kUpdate));
}

class Resolver {
 public:
  Resolver(const DynamicLibrary& library, const std::string& path)
      : path_(path),
        // The one name asked of dlsym: cuda.h renames cuGetProcAddress to this.
        get_(reinterpret_cast<GetProcAddress>(library.symbol("cuGetProcAddress_v2"))) {
    if (get_ == nullptr)
      missing(path_, "it has no cuGetProcAddress_v2, so it is older than CUDA 12");
  }

  template <class Function>
  void operator()(const char* name, Function& function) const {
    void* address = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult result = get_(name, &address, kDriverAbi, kLegacyStream, &found);
    if (result != CUDA_SUCCESS || address == nullptr) {
      missing(path_, fmt::format("it has no {} of CUDA 12.8", name));
    }
    function = reinterpret_cast<Function>(address);
  }

 private:
  const std::string& path_;
  GetProcAddress get_;
};

void resolve_contexts(const Resolver& get, Driver& driver) {
  get("cuInit", driver.init);
  get("cuDriverGetVersion", driver.driver_version);
  get("cuDeviceGetCount", driver.device_count);
  get("cuDeviceGet", driver.device_get);
  get("cuDeviceGetName", driver.device_name);
  get("cuDeviceGetAttribute", driver.device_attribute);
  get("cuDevicePrimaryCtxRetain", driver.primary_retain);
  get("cuDevicePrimaryCtxRelease", driver.primary_release);
  get("cuCtxGetCurrent", driver.context_current);
  get("cuCtxPushCurrent", driver.context_push);
  get("cuCtxPopCurrent", driver.context_pop);
  get("cuCtxGetDevice", driver.context_device);
  get("cuCtxSynchronize", driver.context_synchronize);
  get("cuGetErrorName", driver.error_name);
  get("cuGetErrorString", driver.error_string);
}

void resolve_kernels(const Resolver& get, Driver& driver) {
  get("cuLibraryLoadData", driver.library_load);
  get("cuLibraryUnload", driver.library_unload);
  get("cuLibraryGetKernel", driver.library_kernel);
  get("cuKernelGetFunction", driver.kernel_function);
  get("cuKernelSetAttribute", driver.kernel_set_attribute);
  get("cuKernelGetAttribute", driver.kernel_attribute);
  get("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", driver.occupancy);
  get("cuOccupancyMaxActiveClusters", driver.occupancy_clusters);
  get("cuTensorMapEncodeTiled", driver.tensor_map_encode);
  get("cuLaunchKernelEx", driver.launch);
}

void resolve_memory_and_streams(const Resolver& get, Driver& driver) {
  get("cuMemAlloc", driver.memory_allocate);
  get("cuMemFree", driver.memory_free);
  get("cuMemsetD8", driver.memory_set8);
  get("cuMemsetD8Async", driver.memory_set8_async);
  get("cuMemcpyHtoD", driver.copy_to_device);
  get("cuMemcpyDtoH", driver.copy_to_host);
  get("cuMemcpyDtoDAsync", driver.copy_on_device_async);
  get("cuStreamCreate", driver.stream_create);
  get("cuStreamDestroy", driver.stream_destroy);
  get("cuStreamSynchronize", driver.stream_synchronize);
  get("cuEventCreate", driver.event_create);
  get("cuEventDestroy", driver.event_destroy);
  get("cuEventRecord", driver.event_record);
  get("cuEventSynchronize", driver.event_synchronize);
  get("cuEventElapsedTime", driver.event_elapsed);
}

std::string advice(int result) {
  switch (result) {
    case CUDA_ERROR_NO_DEVICE:
      return ". The driver sees no GPU: check CUDA_VISIBLE_DEVICES and, in a container, that it "
             "was started with GPUs";
    case CUDA_ERROR_STUB_LIBRARY:
      return ". This libcuda is the toolkit's stub: take its folder out of LD_LIBRARY_PATH";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return ". libcuda and the kernel module differ in version: reboot after a driver update, or "
             "remove the "
             "compatibility package from the loader's path";
    default:
      return "";
  }
}

// Runs before libcuda's own exit handlers, which were registered earlier: after them no call is
// safe.
void note_exit(int, void* argument) {
  auto* flag = static_cast<std::shared_ptr<std::atomic<bool>>*>(argument);
  **flag = true;
  delete flag;
}

void set_at_exit(std::shared_ptr<std::atomic<bool>> flag) {
  auto kept = std::make_unique<std::shared_ptr<std::atomic<bool>>>(std::move(flag));
  if (::on_exit(&note_exit, kept.get()) == 0) (void)kept.release();
}

std::shared_ptr<std::atomic<bool>> exit_flag() {
  auto flag = std::make_shared<std::atomic<bool>>(false);
  set_at_exit(flag);
  return flag;
}

}  // namespace

Driver Driver::load() { return load_from(kLibrary); }

Driver Driver::load_from(const std::string& path) {
  Driver driver;
  try {
    driver.library = DynamicLibrary(path);
  } catch (const Error& error) {
    missing(path, error.detail);
  }
  const Resolver get(driver.library, path);
  resolve_contexts(get, driver);
  resolve_kernels(get, driver);
  resolve_memory_and_streams(get, driver);
  const int result = driver.init(0);
  if (result != CUDA_SUCCESS) {
    throw Error(
        result == CUDA_ERROR_NO_DEVICE ? ErrorCode::device_missing : ErrorCode::driver_error,
        fmt::format(
            "starting the CUDA driver {}: {}{}", path, driver.describe(result), advice(result)));
  }
  driver.exiting = exit_flag();
  return driver;
}

std::string Driver::describe(int result) const {
  const char* name = nullptr;
  const char* sentence = nullptr;
  if (error_name != nullptr) (void)error_name(result, &name);
  if (error_string != nullptr) (void)error_string(result, &sentence);
  std::string text = fmt::format("{} ({})", name != nullptr ? name : "CUDA error", result);
  if (sentence != nullptr) text += fmt::format(": {}", sentence);
  return text;
}

void Driver::check(int result, const char* doing) const {
  if (result == CUDA_SUCCESS) return;
  throw Error(
      result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorCode::out_of_memory : ErrorCode::driver_error,
      fmt::format("{}: {}", doing, describe(result)));
}

void Driver::watch_exit() const {
  if (exiting != nullptr) set_at_exit(std::const_pointer_cast<std::atomic<bool>>(exiting));
}

DriverRelease Driver::release() const { return {library_unload, primary_release, exiting}; }

}  // namespace kiln
