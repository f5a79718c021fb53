// A folder of a test's own, gone with all that is in it when the test ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace kiln::testing {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "kiln-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    // A folder that a test made read-only keeps its files from being removed.
    for (const auto& item : fs::recursive_directory_iterator(path_, ignored)) {
      if (item.is_directory(ignored) && !item.is_symlink(ignored)) {
        fs::permissions(item.path(), fs::perms::owner_all, ignored);
      }
    }
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }
  [[nodiscard]] fs::path operator/(std::string_view name) const { return path_ / name; }

 private:
  fs::path path_;
};

}  // namespace kiln::testing
