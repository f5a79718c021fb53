// Reading what a person names as a file: a recipe, a description, a tuning file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace kiln {

struct NamedFile {
  std::string text;     // whole
  std::string problem;  // empty: none; else why it is not read, in words that follow a colon
};

// Pipes are read to their end: /dev/stdin, a shell's <(command), a FIFO. So is a terminal. But a
// FIFO that nobody opens for writing would be waited for without end: after two seconds it is a
// problem, as folders, block devices and sockets are, and as more than `most_bytes` is.
[[nodiscard]] NamedFile read_named_file(const std::string& path, std::size_t most_bytes);

// For a file that will be read again, or written: no pipe or device serves. Nothing is waited for.
[[nodiscard]] NamedFile read_regular_file(const std::string& path, std::size_t most_bytes);

}  // namespace kiln
