// Names and notes of libnvrtc and libnvrtc-builtins.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/toolchain_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include <dirent.h>
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

// What follows is part of each start with a warm cache, and std::filesystem makes a path of every
// name: it took ten times as long, half a millisecond.

std::string joined(std::string_view folder, std::string_view name) {
  return std::string(folder).append(folder.ends_with('/') ? "" : "/").append(name);
}

// Without links; nothing, and the error, when there is no such file.
std::optional<std::string> real_path(const std::string& path, std::error_code& error) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  error = real ? std::error_code() : std::error_code(errno, std::generic_category());
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Names in a folder that begin so, sorted; none when it cannot be listed.
std::vector<std::string> names_in(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> listed(::opendir(folder.c_str()));
  while (const dirent* entry = listed ? ::readdir(listed.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(prefix) && name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A toolkit's and a wheel's library folders below `root`, and `root` itself.
std::vector<std::string> library_folders(const std::string& root) {
  std::vector<std::string> folders{root, joined(root, "lib64"), joined(root, "lib")};
  for (const char* target : {"x86_64-linux", "sbsa-linux", "aarch64-linux"}) {
    folders.push_back(joined(root, fmt::format("targets/{}/lib", target)));
  }
  std::vector<std::string> packages = names_in(joined(root, "nvidia"), "");
  std::reverse(packages.begin(), packages.end());  // cu13 before cu12
  for (const std::string& package : packages)
    folders.push_back(joined(root, fmt::format("nvidia/{}/lib", package)));
  return folders;
}

// "13.0" of builtins that belong to this libnvrtc; its own name may say the major version only.
struct Builtins {
  Version version;
  std::string path;
};

std::vector<Builtins> builtins_beside(const std::string& nvrtc, const Version& nvrtc_version) {
  std::vector<Builtins> found;
  const std::string folder = nvrtc.substr(0, nvrtc.rfind('/') + 1);
  for (const std::string& name : names_in(folder, kBuiltinsPrefix)) {
    const auto version = version_in_name(name, kBuiltinsPrefix);
    if (!version || version->size() < 2 || (*version)[0] != nvrtc_version[0]) continue;
    if (nvrtc_version.size() >= 2 && (*version)[1] != nvrtc_version[1]) continue;
    std::error_code error;
    const auto real = real_path(joined(folder, name), error);
    if (!real) continue;
    const bool known = std::any_of(
        found.begin(), found.end(), [&](const Builtins& other) { return other.path == *real; });
    if (!known) found.push_back({*version, *real});
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
  for (const std::string& folder : library_folders(place)) {
    for (const std::string& name : names_in(folder, kNvrtcPrefix)) {
      if (!version_in_name(name, kNvrtcPrefix)) continue;
      // A broken link is kept, so that the reason names it.
      const std::string named = joined(folder, name);
      const std::string path = real_path(named, error).value_or(named);
      const Version version = version_in_name(name_of(path), kNvrtcPrefix).value_or(Version{});
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
  const std::optional<std::string> found = real_path(path, error);
  if (!found) return error.message();
  const std::string& real = *found;
  auto version = version_in_name(name_of(real), kNvrtcPrefix);
  if (!version || version->empty()) version = version_in_name(name_of(path), kNvrtcPrefix);
  if (!version || version->empty())
    return "its name does not say its version (libnvrtc.so.<major>)";
  if (std::string reason = shared_library_problem(real); !reason.empty()) return reason;

  std::vector<Builtins> builtins = builtins_beside(real, *version);
  if (builtins.empty()) builtins = builtins_beside(fs::absolute(path, error).string(), *version);
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
                              .nvrtc_id = file_identity(real),
                              .builtins_id = file_identity(own.path)},
                       .nvrtc_path = real,
                       .builtins_path = own.path,
                       .found_by = {}};
  if (files.id.nvrtc_id.empty() || files.id.builtins_id.empty()) return "cannot be read";
  return files;
}

}  // namespace kiln
