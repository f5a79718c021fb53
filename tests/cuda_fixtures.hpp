// Temporary folders, ELF files made by hand, this machine's NVRTC, and running a test case in a
// fresh process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/closure.hpp"
#include "src/cuda/nvrtc.hpp"
#include "src/cuda/toolchain.hpp"

namespace kiln::testing {

class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  TempFolder(TempFolder&&) = delete;
  TempFolder& operator=(TempFolder&&) = delete;
  ~TempFolder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  // Writes a file below it, making folders as needed; returns its path.
  std::string write(const std::string& name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::string read_bytes(const std::string& path);

// A minimal x86-64 (or this machine's) shared library: headers, one PT_LOAD over all of it, and,
// unless `build_id` is empty, a PT_NOTE with it. Enough to identify, not to load.
[[nodiscard]] std::string elf_library(const std::string& build_id, std::string_view filler = "");

// The NVRTC the search finds on this machine; fails the test when there is none.
[[nodiscard]] ToolchainFiles machine_toolchain();
// The same, loaded: once a process, as a service does.
[[nodiscard]] const Nvrtc& machine_nvrtc();

[[nodiscard]] Closure closure_of(std::string text,
                                 std::string entry,
                                 std::vector<EmbeddedFile> headers = {});
// For sm_90a, with the standard options.
[[nodiscard]] CompileResult compile_text(const std::string& text, const std::string& entry);

struct ChildResult {
  int status = 0;      // exit code, or 128 + signal
  std::string output;  // stdout
};

// This test binary again, running the hidden test case of that name, with these variables added to
// the environment.
[[nodiscard]] ChildResult run_hidden_test(
    const std::string& name, const std::vector<std::pair<std::string, std::string>>& variables);
// Any program; stderr joins stdout.
[[nodiscard]] ChildResult run_program(
    const std::vector<std::string>& words,
    const std::vector<std::pair<std::string, std::string>>& variables = {});

}  // namespace kiln::testing
