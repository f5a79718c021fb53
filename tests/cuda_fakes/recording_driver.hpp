// A driver filled by hand that records what it is asked and answers as it is told.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "src/cuda/driver.hpp"
#include "tests/testing.hpp"

namespace kiln::testing {

template <class Handle>
Handle* handle(std::uintptr_t value) {
  return reinterpret_cast<Handle*>(value);
}

// What the fake was asked, and what it answers. Function pointers carry no state.
struct Record {
  int load_result = 0;
  int kernel_result = 0;
  int launch_result = 0;
  std::string loaded;
  std::vector<CUlib_st*> unloaded;
  CUlaunchConfig config{};
  std::vector<CUlaunchAttribute> attributes;
  int parameter = 0;
  std::array<int, 3> set_attribute{};
  std::vector<std::string> contexts;
  CUctx_st* current = nullptr;
  std::map<int, int> device_attributes;
};
inline Record record;

inline void add_module_functions(Driver& driver) {
  driver.library_load = [](CUlib_st** library,
                           const void* code,
                           void* options,
                           void** values,
                           unsigned count,
                           void*,
                           void**,
                           unsigned) {
    record.loaded = static_cast<const char*>(code);
    if (record.load_result != 0) {
      REQUIRE(count == 2);
      REQUIRE(static_cast<CUjit_option*>(options)[0] == CU_JIT_ERROR_LOG_BUFFER);
      std::strcpy(static_cast<char*>(values[0]), "ptxas fatal: scripted");
      return record.load_result;
    }
    *library = handle<CUlib_st>(7);
    return 0;
  };
  driver.library_unload = [](CUlib_st* library) { return record.unloaded.push_back(library), 0; };
  driver.library_kernel = [](CUkern_st** kernel, CUlib_st*, const char* name) {
    if (std::string(name) != "k") return static_cast<int>(CUDA_ERROR_NOT_FOUND);
    *kernel = handle<CUkern_st>(8);
    return 0;
  };
  driver.kernel_function = [](CUfunc_st** function, CUkern_st*) {
    *function = handle<CUfunc_st>(9);
    return record.kernel_result;
  };
  driver.kernel_set_attribute = [](int attribute, int value, CUkern_st*, int device) {
    record.set_attribute = {attribute, value, device};
    return value > 232448 ? 1 : 0;
  };
  driver.occupancy = [](int* count, CUfunc_st*, int threads, std::size_t smem, unsigned) {
    *count = threads == 256 && smem == 1024 ? 3 : 0;
    return 0;
  };
}

inline Driver recording_driver() {
  record = {};
  Driver driver;
  add_module_functions(driver);
  driver.launch = [](const CUlaunchConfig_st* config, CUfunc_st*, void** parameters, void**) {
    record.config = *config;
    record.attributes.assign(config->attrs, config->attrs + config->numAttrs);
    record.parameter = *static_cast<const int*>(parameters[0]);
    return record.launch_result;
  };
  driver.context_current = [](CUctx_st** context) { return *context = record.current, 0; };
  driver.context_push = [](CUctx_st*) { return record.contexts.emplace_back("push"), 0; };
  driver.context_pop = [](CUctx_st**) { return record.contexts.emplace_back("pop"), 0; };
  driver.primary_retain = [](CUctx_st** context, int) {
    *context = handle<CUctx_st>(5);
    return record.contexts.emplace_back("retain"), 0;
  };
  driver.primary_release = [](int) { return record.contexts.emplace_back("release"), 0; };
  driver.device_count = [](int* count) { return *count = 2, 0; };
  driver.device_get = [](int* device, int ordinal) { return *device = ordinal, 0; };
  driver.device_name = [](char* name, int, int) { return std::strcpy(name, "Fake H200"), 0; };
  driver.device_attribute = [](int* value, int attribute, int) {
    return *value = record.device_attributes[attribute], 0;
  };
  return driver;
}

}  // namespace kiln::testing
