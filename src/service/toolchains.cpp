// Searching for and loading NVRTC, each at most once.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/toolchains.hpp"

namespace kiln {

Toolchains::Toolchains(const Policy& policy,
                       const std::vector<std::string>& folders,
                       const Backends& backends)
    : policy_(policy), folders_(folders), backends_(backends) {}

const ToolchainSearch& Toolchains::search(std::optional<int> driver_cuda_major) {
  const std::lock_guard lock(search_mutex_);
  const auto known = searches_.find(driver_cuda_major);
  if (known != searches_.end()) return known->second;
  return searches_
      .emplace(driver_cuda_major, backends_.find_toolchain(policy_, folders_, driver_cuda_major))
      .first->second;
}

std::shared_ptr<const Nvrtc> Toolchains::load(const ToolchainFiles& files) {
  const std::lock_guard lock(load_mutex_);
  std::shared_ptr<const Nvrtc>& library = libraries_[files.nvrtc_path];
  if (!library) {
    library = backends_.load_nvrtc(files);
    loaded_ = true;
  }
  return library;
}

}  // namespace kiln
