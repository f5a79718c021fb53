// Doctor's checks of what a fleet trips over: the file system's kind, the loader's variables, and
// how much of a recipe is in the cache.
// SPDX-License-Identifier: Apache-2.0
#include <sys/statfs.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "cache/store.hpp"
#include "tools/doctor/checks.hpp"
#include "tools/environment.hpp"
#include "tools/keys.hpp"
#include "tools/session.hpp"
#include "tools/warm/coverage.hpp"
#include "tools/warm/request.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

struct FileSystem {
  std::int64_t magic;  // statfs(2)
  std::string_view name;
  std::string_view risk;  // empty: none that matters here
};

constexpr std::string_view kNetworkRisk =
    "other hosts see a new kernel late (up to a minute on NFS) and compile it as well; warm once "
    "and "
    "mount it as a read-only layer, or ship a pack";

constexpr std::array kFileSystems{
    FileSystem{0xEF53, "ext4", ""},
    FileSystem{0x58465342, "xfs", ""},
    FileSystem{0x9123683E, "btrfs", ""},
    FileSystem{0x2FC12FC1, "zfs", ""},
    FileSystem{0xF2F52010, "f2fs", ""},
    FileSystem{0x01021994, "tmpfs", "it is empty after a restart and its bytes are memory"},
    FileSystem{0x858458F6, "ramfs", "it is empty after a restart and its bytes are memory"},
    FileSystem{0x794C7630,
               "overlay",
               "in a container what is written here goes with the container; bake a pack, or mount "
               "a volume"},
    FileSystem{0x73717368, "squashfs", "read-only: good for a layer, not for the cache folder"},
    FileSystem{0x6969, "nfs", kNetworkRisk},
    FileSystem{0xFF534D42, "cifs", kNetworkRisk},
    FileSystem{0xFE534D42, "smb", kNetworkRisk},
    FileSystem{0x0BD00BD0, "lustre", kNetworkRisk},
    FileSystem{0x47504653, "gpfs", kNetworkRisk},
    FileSystem{0x19830326, "beegfs", kNetworkRisk},
    FileSystem{0x00C36400, "ceph", kNetworkRisk},
    FileSystem{
        0x01021997, "9p", "shared with the host of this machine; renames may not be atomic there"},
    FileSystem{0x65735546, "fuse", "what it guarantees depends on the program behind it"},
};

// The folder itself, or the nearest ancestor that exists.
fs::path nearest_existing(fs::path path) {
  std::error_code error;
  while (!fs::exists(path, error) && path.has_parent_path() && path != path.parent_path())
    path = path.parent_path();
  return path;
}

}  // namespace

Finding check_file_system(const std::string& folder) {
  Finding finding{"file system", Health::good, {}, {}, {}};
  struct statfs status {};
  const fs::path there = nearest_existing(folder);
  if (statfs(there.c_str(), &status) != 0) {
    finding.health = Health::warning;
    finding.detail = fmt::format("of {} is not known", there.string());
    finding.advice = "check that the folder can be reached";
    return finding;
  }
  const auto magic = static_cast<std::int64_t>(status.f_type) & 0xFFFFFFFF;
  finding.detail = fmt::format("0x{:x}, which is not known here", magic);
  for (const FileSystem& known : kFileSystems) {
    if (known.magic != magic) continue;
    finding.detail = known.name;
    if (!known.risk.empty()) finding.more.emplace_back(known.risk);
    if (known.risk == kNetworkRisk) {
      finding.health = Health::warning;
      finding.advice =
          "set KILN_CACHE_DIR to a folder of this node, and KILN_CACHE_LAYERS to this one";
    }
  }
  return finding;
}

Finding check_loader_environment() {
  Finding finding{"loader", Health::good, "no variable of the dynamic loader is set", {}, {}};
  for (const char* name : {"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"}) {
    const std::optional<std::string> value = environment(name);
    if (value && !value->empty()) finding.more.push_back(fmt::format("{}={}", name, *value));
  }
  if (finding.more.empty()) return finding;
  finding.health = Health::warning;
  finding.detail = "other libraries than the fingerprinted ones may be loaded";
  finding.advice =
      "kiln loads NVRTC by absolute path and does not cache what another one compiles; unset them "
      "if "
      "the NVRTC line below complains";
  return finding;
}

Finding check_coverage(const Examined& examined,
                       const std::vector<std::string>& recipes,
                       const std::vector<std::string>& archs) {
  Finding finding{"coverage", Health::good, {}, {}, {}};
  if (!examined.policy) {
    return {"coverage", Health::warning, "not looked at: the environment is malformed", {}, {}};
  }
  try {
    Service service(service_options());
    const Requested request = requested({}, recipes);
    cache::Store store(store_options(*examined.policy));
    const Coverage coverage = cover(jobs_of(request, archs, service), service, store, false);
    finding.detail = fmt::format("{} of {} kernels are cached, {} are composed",
                                 coverage.cached,
                                 coverage.jobs.size(),
                                 coverage.composed);
    for (const RecipeFault& fault : request.faults)
      finding.more.push_back(
          fmt::format("{}, line {}: {}", fault.recipe, fault.line, fault.detail));
    for (const Covered& covered : coverage.jobs) {
      if (covered.standing == Standing::missing)
        finding.more.push_back(fmt::format("missing: {} for {}", covered.signature, covered.arch));
    }
    if (finding.more.empty()) return finding;
    finding.health = Health::warning;
    finding.advice =
        "kiln warm with the same recipe and architectures; kiln why SIGNATURE says more";
  } catch (const Error& error) {
    finding.health = Health::broken;
    finding.detail = error.detail;
    finding.advice = "correct the recipe or name --arch";
  }
  return finding;
}

}  // namespace kiln::cli
