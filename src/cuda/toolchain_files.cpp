// Names and notes of libnvrtc and libnvrtc-builtins.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/toolchain_files.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/digest.hpp"
#include "src/cuda/elf.hpp"

namespace fs = std::filesystem;

namespace kiln {
namespace {

constexpr std::string_view kNvrtcPrefix =
    "libnvrtc.so";  // not libnvrtc.alt.so: NVIDIA's variant front end
constexpr std::string_view kBuiltinsPrefix = "libnvrtc-builtins.so";

using Version = std::vector<int>;

// {13, 0, 88} for "libnvrtc.so.13.0.88", {} for the bare prefix; nothing for any other name.
std::optional<Version> version_in_name(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  Version version;
  while (!name.empty()) {
    if (name.front() != '.') return std::nullopt;
    name.remove_prefix(1);
    int part = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), part);
    if (error != std::errc{} || part < 0) return std::nullopt;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    version.push_back(part);
  }
  return version;
}

// Names in a folder; empty when it cannot be listed.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::directory_iterator();
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A toolkit's and a wheel's library folders below `root`, and `root` itself.
std::vector<fs::path> library_folders(const fs::path& root) {
  std::vector<fs::path> folders{root, root / "lib64", root / "lib"};
  for (const char* target : {"x86_64-linux", "sbsa-linux", "aarch64-linux"}) {
    folders.push_back(root / "targets" / target / "lib");
  }
  std::vector<std::string> packages = names_in(root / "nvidia");
  std::reverse(packages.begin(), packages.end());  // cu13 before cu12
  for (const std::string& package : packages) folders.push_back(root / "nvidia" / package / "lib");
  return folders;
}

// "13.0" of builtins that belong to this libnvrtc; its own name may say the major version only.
struct Builtins {
  Version version;
  std::string path;
};

std::vector<Builtins> builtins_beside(const fs::path& nvrtc, const Version& nvrtc_version) {
  std::vector<Builtins> found;
  const fs::path folder = nvrtc.parent_path();
  for (const std::string& name : names_in(folder)) {
    const auto version = version_in_name(name, kBuiltinsPrefix);
    if (!version || version->size() < 2 || (*version)[0] != nvrtc_version[0]) continue;
    if (nvrtc_version.size() >= 2 && (*version)[1] != nvrtc_version[1]) continue;
    std::error_code error;
    const std::string real = fs::canonical(folder / name, error).string();
    if (error) continue;
    const bool known = std::any_of(
        found.begin(), found.end(), [&](const Builtins& other) { return other.path == real; });
    if (!known) found.push_back({*version, real});
  }
  return found;
}

}  // namespace

std::string file_identity(const std::string& path) {
  if (auto id = elf_build_id(path)) return *id;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  std::string bytes(fs::file_size(path, error), '\0');
  if (error) return "";
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return "";
  return "sha256:" + hex(sha256(std::string_view(bytes)));
}

std::vector<std::string> nvrtc_candidates(const std::string& place, std::string& problem) {
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (!fs::exists(status)) {
    problem = error && error != std::errc::no_such_file_or_directory ? error.message()
                                                                     : "no such file or folder";
    return {};
  }
  if (!fs::is_directory(status)) return {place};
  std::vector<std::pair<Version, std::string>> files;
  for (const fs::path& folder : library_folders(place)) {
    for (const std::string& name : names_in(folder)) {
      if (!version_in_name(name, kNvrtcPrefix)) continue;
      const fs::path real = fs::canonical(folder / name, error);
      // A broken link is kept, so that the reason names it.
      const std::string path = error ? (folder / name).string() : real.string();
      const Version version =
          version_in_name(fs::path(path).filename().string(), kNvrtcPrefix).value_or(Version{});
      const auto same = [&](const auto& file) { return file.second == path; };
      if (std::none_of(files.begin(), files.end(), same)) files.emplace_back(version, path);
    }
  }
  if (files.empty()) problem = "no libnvrtc.so.* there";
  std::stable_sort(files.begin(), files.end(), [](const auto& left, const auto& right) {
    return left.first > right.first;
  });
  std::vector<std::string> paths;
  for (auto& [version, path] : files) paths.push_back(std::move(path));
  return paths;
}

std::variant<ToolchainFiles, std::string> identify_nvrtc(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return error.message();
  auto version = version_in_name(real.filename().string(), kNvrtcPrefix);
  if (!version || version->empty()) {
    version = version_in_name(fs::path(path).filename().string(), kNvrtcPrefix);
  }
  if (!version || version->empty())
    return "its name does not say its version (libnvrtc.so.<major>)";
  if (std::string reason = shared_library_problem(real.string()); !reason.empty()) return reason;

  std::vector<Builtins> builtins = builtins_beside(real, *version);
  if (builtins.empty()) builtins = builtins_beside(fs::absolute(path, error), *version);
  if (builtins.empty()) {
    return fmt::format("{}.{}.* is not beside it", kBuiltinsPrefix, fmt::join(*version, "."));
  }
  if (builtins.size() > 1) {
    return fmt::format("several builtins are beside it ({} and {}): cannot tell which are its own",
                       builtins[0].path,
                       builtins[1].path);
  }
  const Builtins& own = builtins.front();
  if (std::string reason = shared_library_problem(own.path); !reason.empty()) {
    return fmt::format("its builtins {}: the file {}", own.path, reason);
  }
  ToolchainFiles files{.id = {.major = own.version[0],
                              .minor = own.version[1],
                              .nvrtc_id = file_identity(real.string()),
                              .builtins_id = file_identity(own.path)},
                       .nvrtc_path = real.string(),
                       .builtins_path = own.path,
                       .found_by = {}};
  if (files.id.nvrtc_id.empty() || files.id.builtins_id.empty()) return "cannot be read";
  return files;
}

}  // namespace kiln
