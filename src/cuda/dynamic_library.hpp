// A shared library opened at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln {

class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  // Throws Error{io_error} with dlerror's text. `global` symbols are visible to later libraries.
  explicit DynamicLibrary(const std::string& path, bool global = false);
  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();  // never unloads: NVRTC and the driver do not survive it

  [[nodiscard]] void* symbol(const char* name) const noexcept;  // null when absent
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  void* handle_ = nullptr;
};

}  // namespace kiln
