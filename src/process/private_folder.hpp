// A temporary folder of mode 0700 that nobody else can look into; removed with its owner.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln::process {

class PrivateFolder {
 public:
  // Below TMPDIR or /tmp; path() is empty when none can be made.
  PrivateFolder();
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  ~PrivateFolder();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  void remove() noexcept;

  std::string path_;
};

}  // namespace kiln::process
