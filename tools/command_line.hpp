// Parsing the command line; CLI11 stays behind this header.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace kiln::cli {

struct Command {
  std::function<int()> run;  // empty: `text` is the answer, `exit_code` the code
  bool json = false;
  std::string text;  // help or version for stdout, or what was wrong for stderr
  int exit_code = 0;
};

// Never exits the process and prints nothing.
[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

}  // namespace kiln::cli
