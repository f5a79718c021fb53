// What `kiln doctor` checks. No check throws; each says what to do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/policy.hpp>

#include "src/cuda/driver.hpp"
#include "tools/doctor/finding.hpp"

namespace kiln::cli {

struct Examined {
  std::optional<Policy> policy;  // absent when the environment is malformed
  std::optional<Driver> driver;
  std::optional<int> cuda_major;  // of the driver
  std::vector<Arch> archs;        // of the devices
};

// Each adds to `examined` what later ones need.
[[nodiscard]] Finding check_environment(Examined& examined);
[[nodiscard]] Finding check_driver(Examined& examined);
[[nodiscard]] std::vector<Finding> check_devices(Examined& examined);
[[nodiscard]] Finding check_nvrtc(const Examined& examined);
[[nodiscard]] std::vector<Finding> check_cache(const Examined& examined);
// The kind of file system that holds the folder, and what that risks.
[[nodiscard]] Finding check_file_system(const std::string& folder);
[[nodiscard]] Finding check_loader_environment();
// How much of the recipes is in the cache.
[[nodiscard]] Finding check_coverage(const Examined& examined,
                                     const std::vector<std::string>& recipes,
                                     const std::vector<std::string>& archs);
[[nodiscard]] Finding check_composed(const Examined& examined);

}  // namespace kiln::cli
