// What the loader really mapped: another NVRTC of the same name may already be in the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/cuda/toolchain.hpp"

namespace kiln {

// Empty when the code that holds `nvrtc_function`, and every libnvrtc-builtins of its version in
// the process, are those of `files`; else why compiles must not be cached.
[[nodiscard]] std::string mapped_files_problem(const ToolchainFiles& files,
                                               const void* nvrtc_function);

}  // namespace kiln
