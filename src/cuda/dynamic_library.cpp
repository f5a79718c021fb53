// dlopen, with an error that says what failed, and no dlclose.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/dynamic_library.hpp"

#include <dlfcn.h>

#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln {

DynamicLibrary::DynamicLibrary(const std::string& path, bool global)
    : handle_(::dlopen(path.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL))) {
  if (handle_ != nullptr) return;
  const char* reason = ::dlerror();
  throw Error(
      ErrorCode::io_error,
      fmt::format("cannot load {}: {}", path, reason != nullptr ? reason : "unknown error"));
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  handle_ = std::exchange(other.handle_, nullptr);
  return *this;
}

DynamicLibrary::~DynamicLibrary() = default;

void* DynamicLibrary::symbol(const char* name) const noexcept {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name);
}

}  // namespace kiln
