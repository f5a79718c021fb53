// The exit codes of the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kiln/error.hpp>

namespace kiln::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  // something failed; what could be done was done
inline constexpr int kUsage =
    2;  // the request itself is wrong: options, signature, architecture, environment
inline constexpr int kNoDevice = 3;  // the request needs a GPU and there is none

[[nodiscard]] int exit_code(ErrorCode code) noexcept;

}  // namespace kiln::cli
