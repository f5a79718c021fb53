// What the command line takes from its surroundings beyond Policy: terminal settings, and where
// NVIDIA's wheel is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

[[nodiscard]] std::optional<std::string> environment(std::string_view name);

// Library folders of NVIDIA's wheels, in the Python environment that the program is installed in
// and in one called `venv` beside the program or up to four folders above it, where `./dev setup`
// puts them.
[[nodiscard]] std::vector<std::string> wheel_folders();

// The absolute path of this program, or nothing without /proc.
[[nodiscard]] std::optional<std::string> program_path();

}  // namespace kiln::cli
