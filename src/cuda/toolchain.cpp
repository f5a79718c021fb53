// The search for an NVRTC: places in order, the first usable one wins, every refusal is kept.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/toolchain.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/cuda/toolchain_files.hpp"

namespace fs = std::filesystem;

namespace kiln {
namespace {

// --no-cache and sm_103a came with 12.9; an unknown option is a hard error.
constexpr std::pair kOldestVersion{12, 9};

constexpr const char* kByVariable = "KILN_NVRTC";
constexpr const char* kByToolkit = "toolkit folder";

// cuda-13.1 before cuda-13.0 before cuda-12.9.
std::vector<std::string> versioned_toolkits() {
  std::vector<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator it("/usr/local", error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    if (it->path().filename().string().starts_with("cuda-")) folders.push_back(it->path().string());
  }
  const auto version = [](const std::string& path) {
    int major = 0;
    int minor = 0;
    (void)std::sscanf(path.c_str() + path.rfind('-') + 1, "%d.%d", &major, &minor);
    return std::tuple(major, minor, path);
  };
  std::sort(folders.begin(), folders.end(), [&](const std::string& left, const std::string& right) {
    return version(left) > version(right);
  });
  return folders;
}

std::string version_problem(const Toolchain& id, std::optional<int> driver_cuda_major) {
  if (std::pair(id.major, id.minor) < kOldestVersion) {
    return fmt::format("is version {}.{}; kiln needs {}.{} or newer",
                       id.major,
                       id.minor,
                       kOldestVersion.first,
                       kOldestVersion.second);
  }
  if (driver_cuda_major && id.major > *driver_cuda_major) {
    return fmt::format("is version {}.{}; this driver runs code of CUDA {} at most",
                       id.major,
                       id.minor,
                       *driver_cuda_major);
  }
  return "";
}

}  // namespace

std::vector<SearchPlace> search_places(const Policy& policy,
                                       const std::vector<std::string>& wheel_folders) {
  if (!policy.nvrtc.empty()) return {{kByVariable, policy.nvrtc}};
  std::vector<SearchPlace> places;
  for (const std::string& folder : wheel_folders) places.push_back({"NVIDIA's wheel", folder});
  if (!policy.cuda_home.empty()) places.push_back({"CUDA_HOME", policy.cuda_home});
  places.push_back({kByToolkit, "/usr/local/cuda"});
  for (std::string& folder : versioned_toolkits())
    places.push_back({kByToolkit, std::move(folder)});
  for (const char* folder :
       {"/opt/cuda", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"}) {
    places.push_back({kByToolkit, folder});
  }
  return places;
}

ToolchainSearch find_toolchain_in(const std::vector<SearchPlace>& places,
                                  std::optional<int> driver_cuda_major) {
  ToolchainSearch search;
  const auto refuse = [&](const SearchPlace& place, const std::string& path, std::string_view why) {
    search.tried.push_back(fmt::format("{}: {}: {}", place.found_by, path, why));
  };
  for (const SearchPlace& place : places) {
    std::string problem;
    const std::vector<std::string> candidates = nvrtc_candidates(place.path, problem);
    if (candidates.empty()) refuse(place, place.path, problem);
    for (const std::string& path : candidates) {
      std::variant<ToolchainFiles, std::string> identified = identify_nvrtc(path);
      if (const auto* reason = std::get_if<std::string>(&identified)) {
        refuse(place, path, *reason);
        continue;
      }
      auto& files = std::get<ToolchainFiles>(identified);
      const std::string reason = version_problem(files.id, driver_cuda_major);
      if (!reason.empty()) {
        refuse(place, path, reason);
        continue;
      }
      files.found_by = place.found_by;
      search.found = std::move(files);
      return search;
    }
  }
  return search;
}

ToolchainSearch find_toolchain(const Policy& policy,
                               const std::vector<std::string>& wheel_folders,
                               std::optional<int> driver_cuda_major) {
  return find_toolchain_in(search_places(policy, wheel_folders), driver_cuda_major);
}

Error missing_toolchain(const ToolchainSearch& search) {
  return Error(
      ErrorCode::nvrtc_missing,
      fmt::format(
          "no usable NVRTC (libnvrtc.so, {}.{} or newer) was found. Tried:\n  {}\n"
          "Install a CUDA toolkit of that version or NVIDIA's wheel (pip install "
          "'nvidia-cuda-nvrtc==13.0.*' in a virtual environment), and set KILN_NVRTC to the "
          "folder that holds libnvrtc.so if it is not in a usual place",
          kOldestVersion.first,
          kOldestVersion.second,
          fmt::join(search.tried, "\n  ")));
}

}  // namespace kiln
