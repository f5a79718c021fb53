// Finding an NVRTC and identifying it without loading it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <kiln/error.hpp>
#include <kiln/policy.hpp>

#include "src/core/digest.hpp"
#include "src/cuda/elf.hpp"

namespace kiln {

struct ToolchainFiles {
  Toolchain id;
  std::string nvrtc_path;  // absolute, links resolved
  std::string builtins_path;
  std::string found_by;  // "KILN_NVRTC", "NVIDIA's wheel", "CUDA_HOME", "toolkit folder"
};

struct ToolchainSearch {
  std::optional<ToolchainFiles> found;
  std::vector<std::string> tried;  // one line a place, with what was wrong there
};

// Where to look: a folder (its lib, lib64 and targets folders and a wheel's nvidia/*/lib are looked
// into too) or a libnvrtc file.
struct SearchPlace {
  std::string found_by;
  std::string path;
};

// KILN_NVRTC alone when it is set: what a user names is never replaced by something else. Otherwise
// the folders the caller names (NVIDIA's wheel beside the Python package or the build), CUDA_HOME,
// the usual toolkit folders.
[[nodiscard]] std::vector<SearchPlace> search_places(const Policy& policy,
                                                     const std::vector<std::string>& wheel_folders);

// The first usable NVRTC of these places, in order. Usable: whole files with their builtins, at
// least version 12.9, and a major version not above `driver_cuda_major` (when known). Loads
// nothing.
[[nodiscard]] ToolchainSearch find_toolchain_in(const std::vector<SearchPlace>& places,
                                                std::optional<int> driver_cuda_major);

// find_toolchain_in(search_places(...)).
[[nodiscard]] ToolchainSearch find_toolchain(const Policy& policy,
                                             const std::vector<std::string>& wheel_folders,
                                             std::optional<int> driver_cuda_major);

// What to throw when nothing was found: every place tried, and what to do.
[[nodiscard]] Error missing_toolchain(const ToolchainSearch& search);

}  // namespace kiln
