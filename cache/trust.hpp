// Who else could put code into a cache folder: a cubin runs on the GPU of whoever loads it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <sys/stat.h>
#include <sys/types.h>

namespace kiln::cache {

// Why the folder at this absolute, resolved path cannot be trusted: it or a parent can be written,
// or renamed, by someone other than root, this user and `owner`. Nothing when it can.
[[nodiscard]] std::optional<std::string> distrust_folder(const std::string& path, uid_t owner);
// The same for one open folder or file, without its parents; `path` is for the text.
[[nodiscard]] std::optional<std::string> distrust_descriptor(int fd,
                                                             const std::string& path,
                                                             uid_t owner);
[[nodiscard]] std::optional<std::string> distrust_status(const struct stat& status,
                                                         const std::string& path,
                                                         uid_t owner);

}  // namespace kiln::cache
