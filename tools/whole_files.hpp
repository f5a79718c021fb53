// Reading and writing whole files, for the build tool.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include <kiln/error.hpp>

namespace kiln::composed {

// Throws Error{io_error}.
[[nodiscard]] inline std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);  // opening a FIFO may wait
  std::ifstream file;
  if (regular) file.open(path, std::ios::binary);
  if (!regular || !file) {
    throw Error(ErrorCode::io_error, "cannot read " + path.string());
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Throws Error{io_error}.
inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error(ErrorCode::io_error, "cannot write " + path.string());
}

}  // namespace kiln::composed
