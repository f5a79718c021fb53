// Compiling a composed.cu for every architecture, in several processes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/core/closure.hpp"
#include "src/cuda/toolchain.hpp"
#include "tools/composed_source.hpp"

namespace kiln::composed {

// Changes with everything that reaches the images: sources, options, targets, the compiler.
[[nodiscard]] std::string images_digest(const ToolchainFiles& files, const Closure& closure);

// One image a target: cubins by architecture, PTX last. `folder` is an empty scratch folder. Warns
// of spills on stderr; throws Error{compile_failed} when any target fails, after its error went to
// stderr.
[[nodiscard]] std::vector<Image> compile_images(const ToolchainFiles& files,
                                                const Closure& closure,
                                                std::size_t jobs,
                                                const std::string& folder);

}  // namespace kiln::composed
