// Doctor's checks of NVRTC and the cache folder.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <variant>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "cache/pack.hpp"
#include "src/core/closure.hpp"
#include "src/core/digest.hpp"
#include "src/cuda/nvrtc.hpp"
#include "src/cuda/toolchain.hpp"
#include "tools/doctor/checks.hpp"
#include "tools/environment.hpp"
#include "tools/terminal.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// Less than this and a few hundred kernels may not fit.
constexpr double kLittleSpace = 64.0 * 1024 * 1024;

// Loads it and compiles a kernel that does nothing; throws Error.
double try_compile(const ToolchainFiles& files, const Arch& arch, std::string& uncacheable) {
  const Nvrtc nvrtc = Nvrtc::load(files);
  uncacheable = nvrtc.uncacheable_reason;
  const Closure closure =
      close_includes(Source{"extern \"C\" __global__ void kiln_doctor() {}\n", "kiln_doctor"}, {});
  const CompileOptions options = CompileOptions::standard();
  return compile(nvrtc, {closure, options, arch, "0"}).ms;
}

// The folder itself, or the nearest ancestor that exists.
fs::path nearest_existing(fs::path path) {
  std::error_code error;
  while (!fs::exists(path, error) && path.has_parent_path() && path != path.parent_path())
    path = path.parent_path();
  return path;
}

// Empty when a file can be made there, else why not. Root passes every permission check, so only
// trying tells.
std::string why_not_writable(const fs::path& folder) {
  std::string probe = (folder / ".kiln-doctor-XXXXXX").string();
  const int file = mkostemp(probe.data(), O_CLOEXEC);
  if (file < 0) return std::strerror(errno);
  const bool written = ::write(file, "x", 1) == 1;
  const int code = errno;
  close(file);
  unlink(probe.c_str());
  return written ? "" : std::strerror(code);
}

void add_space(Finding& finding, const fs::path& folder) {
  struct statvfs space {};
  if (statvfs(folder.c_str(), &space) != 0) return;
  const double bytes = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  finding.detail += fmt::format("; {} free", human_bytes(bytes));
  if (space.f_files > 0) finding.detail += fmt::format(", {} files", space.f_favail);
  const bool few_files = space.f_files > 0 && space.f_favail < 1000;
  if (finding.health == Health::good && (bytes < kLittleSpace || few_files)) {
    finding.health = Health::warning;
    finding.advice = "free some space, or set KILN_CACHE_DIR to a folder on another file system";
  }
}

Finding check_root(const Policy& policy) {
  Finding finding{"cache folder", Health::good, policy.cache_dir, {}, {}};
  if (policy.cache_dir.empty()) {
    finding.health = Health::warning;
    finding.detail =
        fmt::format("none, kernels are kept in memory only: {}", policy.cache_dir_reason);
    finding.advice = "set KILN_CACHE_DIR to a folder of your own";
    return finding;
  }
  std::error_code error;
  if (fs::exists(policy.cache_dir, error) && !fs::is_directory(policy.cache_dir, error)) {
    finding.health = Health::broken;
    finding.detail += ": not a folder";
    finding.advice = "set KILN_CACHE_DIR to a folder";
    return finding;
  }
  const fs::path there = nearest_existing(policy.cache_dir);
  const bool exists = there == fs::path(policy.cache_dir);
  finding.detail += exists ? "" : " (made when first needed)";
  const std::string reason = why_not_writable(there);
  if (!reason.empty()) {
    finding.health = Health::broken;
    finding.detail += fmt::format(": {} cannot be written: {}", there.string(), reason);
    finding.advice =
        "set KILN_CACHE_DIR to a folder you can write; kernels still run, but are compiled every "
        "time";
  }
  struct stat status {};
  if (finding.health == Health::good && exists && stat(there.c_str(), &status) == 0 &&
      (status.st_mode & 022) != 0) {
    finding.health = Health::warning;
    finding.detail += ": other users can write it";
    finding.advice = fmt::format("chmod 700 {}: a cubin is code", there.string());
  }
  add_space(finding, there);
  return finding;
}

Finding check_layer(const std::string& layer, const std::string& trusted_keys) {
  Finding finding{"cache layer", Health::good, layer, {}, {}};
  const auto parsed = cache::parse_layer(layer);
  const auto* spec = std::get_if<cache::LayerSpec>(&parsed);
  const std::string path = spec == nullptr ? layer : spec->path;
  if (path.ends_with(".kpack")) {
    const cache::SignatureCheck check{spec == nullptr ? cache::SignaturePolicy::off : spec->policy,
                                      trusted_keys};
    const auto opened = cache::Pack::open(path, check);
    if (const auto* pack = std::get_if<cache::Pack>(&opened)) {
      finding.detail += fmt::format(": a pack of {} kernels", pack->entries().size());
      if (!pack->warning().empty()) finding.more.push_back(pack->warning());
      return finding;
    }
    finding.health = Health::warning;
    finding.detail += fmt::format(": {}", std::get<cache::Problem>(opened).text);
    finding.advice = "kiln works without it; make the pack anew, or sign it and trust the key";
    return finding;
  }
  if (access(path.c_str(), R_OK | X_OK) == 0) return finding;
  finding.health = Health::warning;
  finding.detail += fmt::format(": {}", std::strerror(errno));
  finding.advice = "correct KILN_CACHE_LAYERS, or mount the folder; it is passed over meanwhile";
  return finding;
}

}  // namespace

Finding check_nvrtc(const Examined& examined) {
  Finding finding{"NVRTC", Health::good, {}, {}, {}};
  if (!examined.policy)
    return {"NVRTC", Health::warning, "not looked for: the environment is malformed", {}, {}};
  const ToolchainSearch search =
      find_toolchain(*examined.policy, wheel_folders(), examined.cuda_major);
  finding.more = search.tried;
  if (!search.found) {
    const bool named = !examined.policy->nvrtc.empty();
    finding.health = named ? Health::broken : Health::absent;
    finding.detail = "none found: cached and composed kernels work, new ones cannot be compiled";
    finding.advice = named
                         ? "KILN_NVRTC must name a libnvrtc.so.<n> of 12.9 or later, or its folder"
                         : "install NVIDIA's CUDA toolkit 12.9 or later, or let `./dev setup` put "
                           "NVIDIA's wheel "
                           "beside the build; KILN_NVRTC names one elsewhere";
    return finding;
  }
  const ToolchainFiles& files = *search.found;
  finding.detail =
      fmt::format("{}, found by {}: {}", files.id.text(), files.found_by, files.nvrtc_path);
  finding.more.push_back("builtins: " + files.builtins_path);
  try {
    const Arch arch = examined.archs.empty() ? known_limits().front().arch : examined.archs.front();
    std::string uncacheable;
    const double milliseconds = try_compile(files, arch, uncacheable);
    finding.more.push_back(
        fmt::format("an empty kernel for {} compiled in {:.0f} ms", arch.text(), milliseconds));
    if (!uncacheable.empty()) {
      finding.health = Health::warning;
      finding.more.push_back("compiles are not cached: " + uncacheable);
      finding.advice = "start the program with no other NVRTC in its library path";
    }
  } catch (const Error& error) {
    finding.health = Health::broken;
    finding.more.emplace_back(error.what());
    finding.advice = "install it anew, or name another with KILN_NVRTC";
  }
  return finding;
}

std::vector<Finding> check_cache(const Examined& examined) {
  if (!examined.policy)
    return {
        {"cache folder", Health::warning, "not looked at: the environment is malformed", {}, {}}};
  std::vector<Finding> findings{check_root(*examined.policy)};
  for (const std::string& layer : examined.policy->cache_layers)
    findings.push_back(check_layer(layer, examined.policy->trusted_keys));
  return findings;
}

}  // namespace kiln::cli
