// Surroundings of the command line.
// SPDX-License-Identifier: Apache-2.0
#include "tools/environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// Sub-folders whose name starts with `prefix`, sorted; none when the folder cannot be read.
std::vector<fs::path> folders(const fs::path& parent, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().rfind(prefix, 0) == 0) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// CUDA 13's wheels share a folder, cu13; older ones have one each.
void add_wheels(const fs::path& python, std::vector<std::string>& found) {
  for (const char* packages : {"site-packages", "dist-packages"}) {
    for (const char* prefix : {"cu1", "cuda_nvrtc"}) {
      for (const fs::path& wheel : folders(python / packages / "nvidia", prefix)) {
        found.push_back((wheel / "lib").string());
      }
    }
  }
}

}  // namespace

std::optional<std::string> environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::optional<std::string> program_path() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  return path.string();
}

std::vector<std::string> wheel_folders() {
  std::vector<std::string> found;
  const std::optional<std::string> program = program_path();
  if (!program) return found;
  fs::path folder = fs::path(*program).parent_path();
  for (int level = 0; level < 5; ++level, folder = folder.parent_path()) {
    // The environment that the program is installed in, and one beside a build folder.
    for (const fs::path& libraries : {folder / "lib", folder / "venv" / "lib"}) {
      for (const fs::path& python : folders(libraries, "python3")) add_wheels(python, found);
    }
  }
  return found;
}

}  // namespace kiln::cli
