// A shared library that answers as libcuda does, steered by the environment. What is asked of it
// goes to a file.
// SPDX-License-Identifier: Apache-2.0
//
// FAKE_CUDA_INIT: cuInit's result. FAKE_CUDA_WITHOUT: a function that is missing. FAKE_CUDA_LOG: a
// file to append to.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void note(const std::string& line) {
  const char* path = std::getenv("FAKE_CUDA_LOG");
  if (path == nullptr) return;
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

int init(unsigned) {
  const char* result = std::getenv("FAKE_CUDA_INIT");
  return result == nullptr ? 0 : std::atoi(result);
}

int error_name(int, const char** name) {
  *name = "CUDA_ERROR_FAKE";
  return 0;
}

int library_load(void** library, const void*, void*, void**, unsigned, void*, void**, unsigned) {
  *library = reinterpret_cast<void*>(1);
  return 0;
}

int library_unload(void*) {
  note("unloaded");
  return 0;
}

int anything() { return 0; }

}  // namespace

extern "C" __attribute__((visibility("default"))) int cuGetProcAddress_v2(
    const char* name, void** function, int version, unsigned long long flags, int* found) {
  note(std::string(name) + " " + std::to_string(version) + " " + std::to_string(flags));
  const char* missing = std::getenv("FAKE_CUDA_WITHOUT");
  *function = nullptr;
  if (missing != nullptr && std::strcmp(missing, name) == 0) {
    *found = 1;
    return 500;
  }
  *found = 0;
  const std::string asked = name;
  if (asked == "cuInit") {
    *function = reinterpret_cast<void*>(&init);
  } else if (asked == "cuGetErrorName") {
    *function = reinterpret_cast<void*>(&error_name);
  } else if (asked == "cuLibraryLoadData") {
    *function = reinterpret_cast<void*>(&library_load);
  } else if (asked == "cuLibraryUnload") {
    *function = reinterpret_cast<void*>(&library_unload);
  } else {
    *function = reinterpret_cast<void*>(&anything);
  }
  return 0;
}
