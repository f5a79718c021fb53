// The CUDA driver as a table of functions; cuda.h stays in .cpp files, so opaque handles are
// forward-declared.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "src/cuda/dynamic_library.hpp"

struct CUctx_st;
struct CUstream_st;
struct CUlib_st;
struct CUkern_st;
struct CUfunc_st;
struct CUlaunchConfig_st;

namespace kiln {

// What destructors of owners need of a driver, whose table may be gone before them when statics are
// destroyed.
struct DriverRelease {
  int (*library_unload)(CUlib_st*) = nullptr;
  int (*primary_release)(int) = nullptr;
  std::shared_ptr<const std::atomic<bool>> exiting;

  // False once the process is exiting: everything is then left to the driver.
  [[nodiscard]] bool allowed() const noexcept { return exiting == nullptr || !*exiting; }
};

// Filled by load() in production, by hand in tests. int stands for CUresult, CUdevice and the
// attribute enumerations.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  int (*primary_retain)(CUctx_st**, int) = nullptr;
  int (*primary_release)(int) = nullptr;
  int (*context_current)(CUctx_st**) = nullptr;
  int (*context_push)(CUctx_st*) = nullptr;
  int (*context_pop)(CUctx_st**) = nullptr;
  int (*context_device)(int*) = nullptr;
  int (*context_synchronize)() = nullptr;
  int (*library_load)(CUlib_st**, const void*, void*, void**, unsigned, void*, void**, unsigned) =
      nullptr;
  int (*library_unload)(CUlib_st*) = nullptr;
  int (*library_kernel)(CUkern_st**, CUlib_st*, const char*) = nullptr;
  int (*kernel_function)(CUfunc_st**, CUkern_st*) = nullptr;
  int (*kernel_set_attribute)(int, int, CUkern_st*, int) = nullptr;
  int (*kernel_attribute)(int*, int, CUkern_st*, int) = nullptr;
  int (*occupancy)(int*, CUfunc_st*, int, std::size_t, unsigned) = nullptr;
  int (*occupancy_clusters)(int*, CUfunc_st*, const CUlaunchConfig_st*) = nullptr;
  // cuTensorMapEncodeTiled: map, type, rank, address, shape, strides, box, element strides,
  // interleave, swizzle, L2 promotion, fill.
  int (*tensor_map_encode)(void*,
                           int,
                           unsigned,
                           void*,
                           const std::uint64_t*,
                           const std::uint64_t*,
                           const unsigned*,
                           const unsigned*,
                           int,
                           int,
                           int,
                           int) = nullptr;
  int (*launch)(const CUlaunchConfig_st*, CUfunc_st*, void**, void**) = nullptr;
  int (*memory_allocate)(std::uint64_t*, std::size_t) = nullptr;
  int (*memory_free)(std::uint64_t) = nullptr;
  int (*memory_set8)(std::uint64_t, unsigned char, std::size_t) = nullptr;
  int (*memory_set8_async)(std::uint64_t, unsigned char, std::size_t, CUstream_st*) = nullptr;
  int (*copy_to_device)(std::uint64_t, const void*, std::size_t) = nullptr;
  int (*copy_to_host)(void*, std::uint64_t, std::size_t) = nullptr;
  int (*copy_on_device_async)(std::uint64_t, std::uint64_t, std::size_t, CUstream_st*) = nullptr;
  int (*stream_create)(CUstream_st**, unsigned) = nullptr;
  int (*stream_destroy)(CUstream_st*) = nullptr;
  int (*stream_synchronize)(CUstream_st*) = nullptr;
  int (*event_create)(void**, unsigned) = nullptr;
  int (*event_destroy)(void*) = nullptr;
  int (*event_record)(void*, CUstream_st*) = nullptr;
  int (*event_synchronize)(void*) = nullptr;
  int (*event_elapsed)(float*, void*, void*) = nullptr;
  int (*error_name)(int, const char**) = nullptr;
  int (*error_string)(int, const char**) = nullptr;
  DynamicLibrary library;
  // Becomes true when the process starts to exit; null in a table filled by hand.
  std::shared_ptr<const std::atomic<bool>> exiting;

  // dlopens libcuda.so.1, resolves through cuGetProcAddress_v2 with a fixed version, and
  // initialises. Throws Error{driver_missing}, saying what to do; Error{device_missing} when the
  // driver sees no GPU, Error{driver_error} when cuInit fails otherwise.
  [[nodiscard]] static Driver load();
  // The same with another file: a fake driver in tests.
  [[nodiscard]] static Driver load_from(const std::string& path);

  // To be called after what may make the driver register exit handlers: opening a context, loading
  // a module. What is registered last runs first, so `exiting` is set before the driver is gone.
  void watch_exit() const;

  [[nodiscard]] DriverRelease release() const;
  // False once the process is exiting.
  [[nodiscard]] bool may_release() const noexcept { return exiting == nullptr || !*exiting; }

  // "CUDA_ERROR_INVALID_IMAGE (200): device kernel image is invalid"
  [[nodiscard]] std::string describe(int result) const;
  // Throws Error{driver_error} (or out_of_memory) saying what was being done.
  void check(int result, const char* doing) const;
};

}  // namespace kiln
