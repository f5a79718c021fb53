// Which NVRTC serves this process: found once without loading it, loaded only for a compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <kiln/policy.hpp>

#include "src/service/backends.hpp"

namespace kiln {

class Toolchains {
 public:
  Toolchains(const Policy& policy,
             const std::vector<std::string>& folders,
             const Backends& backends);

  // Searched once for each CUDA major version a driver may limit it to. The reference stays valid.
  [[nodiscard]] const ToolchainSearch& search(std::optional<int> driver_cuda_major);
  // Loads at the first call. Throws Error{nvrtc_missing}.
  [[nodiscard]] std::shared_ptr<const Nvrtc> load(const ToolchainFiles& files);
  [[nodiscard]] bool loaded() const noexcept { return loaded_; }

 private:
  const Policy& policy_;
  const std::vector<std::string>& folders_;
  const Backends& backends_;
  std::mutex search_mutex_;
  std::map<std::optional<int>, ToolchainSearch> searches_;
  std::mutex load_mutex_;
  std::map<std::string, std::shared_ptr<const Nvrtc>> libraries_;  // by path
  std::atomic<bool> loaded_{false};
};

}  // namespace kiln
