// Runs the program `kiln` in a process of its own, in a folder of its own, as a user would.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace kiln::testing {

struct Ran {
  int code = -1;  // exit code, or minus the signal that ended it
  std::string out;
  std::string err;
};

class Program {
 public:
  // A fresh folder with an empty cache in it; removed at the end.
  Program();
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Runs to the end. KILN_CACHE_DIR is this folder's cache unless `environment` says otherwise; an
  // empty value unsets.
  [[nodiscard]] Ran run(const std::vector<std::string>& arguments,
                        const std::map<std::string, std::string>& environment = {}) const;
  // As uid and gid `nobody`, from a copy of the program that everybody may execute.
  [[nodiscard]] Ran run_as_nobody(const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& environment = {}) const;

  // Starts and returns at once.
  [[nodiscard]] pid_t start(const std::vector<std::string>& arguments) const;
  // Waits for what start() began.
  [[nodiscard]] Ran finish(pid_t pid) const;

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] std::string cache() const { return folder_ + "/cache"; }
  // Writes a file in the folder and returns its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const;
  // Kernels in the cache folder.
  [[nodiscard]] std::vector<std::string> entries() const;

 private:
  std::string folder_;
};

// Child processes of a process.
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);

}  // namespace kiln::testing
