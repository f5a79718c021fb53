// Options of the verbs that run kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "tools/verbs/verbs.hpp"

namespace kiln::cli {

inline constexpr const char* kSignature = "op:key=value,key=value";
inline constexpr const char* kCandidate = "Force one of the kernels that `kiln tune` measures";

void add_run_options(CLI::App& app, RunOptions& options);
void add_tune_options(CLI::App& app, TuneOptions& options);

}  // namespace kiln::cli
