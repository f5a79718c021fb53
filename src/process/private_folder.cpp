// Making and removing private folders.
// SPDX-License-Identifier: Apache-2.0
#include "src/process/private_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace kiln::process {

PrivateFolder::PrivateFolder() {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error || !parent.is_absolute()) parent = "/tmp";
  std::string path = (parent / "kiln-XXXXXX").string();
  if (::mkdtemp(path.data()) != nullptr) path_ = std::move(path);
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  return *this;
}

PrivateFolder::~PrivateFolder() { remove(); }

void PrivateFolder::remove() noexcept {
  if (path_.empty()) return;
  try {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  } catch (...) {
    // Out of memory: a folder stays behind.
  }
}

}  // namespace kiln::process
