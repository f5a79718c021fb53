// How long a process takes from its start to a cubin that can be loaded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln {

inline constexpr int kCacheRepetitions = 9;

// What a training process does first, as far as it needs no GPU: 0 when the cache had the cubin.
int start_as_child();
// A benchmark of processes that run start_as_child, with a warm cache at `root` and one more
// variable of their environment.
void add_start(const char* name, const std::string& root, const std::string& more);

}  // namespace kiln
