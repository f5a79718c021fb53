// Going through the files of all fan-out folders, by several threads where there are many.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <sys/stat.h>

#include "cache/layout.hpp"

namespace kiln::cache {

inline constexpr std::size_t kFanOut = 256;

// What a walk calls for each entry file: its folder, its name there, and what it is.
using VisitFile = std::function<void(int folder, const char* file, const struct stat& status)>;

// The regular files of entries' names in the fan-out folder of this number, below kFanOut. A folder
// that cannot be opened has none. Memory does not grow with the folder.
void visit_files(const Root& root, std::size_t number, const VisitFile& visit);

// Calls work(number) once for each number from `begin` to kFanOut, by as many threads as are worth
// it for this many entries. Out of memory, a helping thread ends early, and what it had begun is
// left half-done.
void share_folders(std::size_t begin,
                   std::int64_t entries,
                   const std::function<void(std::size_t number)>& work);

}  // namespace kiln::cache
