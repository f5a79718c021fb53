// Identifying one libnvrtc by its files alone: version out of names, identity out of build-ids.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "src/cuda/toolchain.hpp"

namespace kiln {

// The build-id, or "sha256:<hex>" of a file that has none; empty when it cannot be read.
[[nodiscard]] std::string file_identity(const std::string& path);

// The files named libnvrtc.so* that a place offers, links resolved, newest version first. `problem`
// says why there are none.
[[nodiscard]] std::vector<std::string> nvrtc_candidates(const std::string& place,
                                                        std::string& problem);

// The files with version and identity (found_by left empty), or what is wrong with them.
[[nodiscard]] std::variant<ToolchainFiles, std::string> identify_nvrtc(const std::string& path);

}  // namespace kiln
