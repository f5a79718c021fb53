// Reading one entry file, whatever is found in its place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "cache/entry.hpp"

namespace kiln::cache {

enum class ReadState {
  found,
  missing,
  unreadable,  // the system refused: it says nothing about the entry, which stays
  bad,         // whatever is there is not an entry, and never becomes one
};

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const FileId&) const = default;
};

struct ReadResult {
  ReadState state = ReadState::missing;
  std::optional<Entry> entry;  // found
  std::string cause;           // unreadable, bad: stable, for logging once
  std::string reason;          // likewise: for people
  FileId id;                   // what was looked at, so that nothing newer is taken for it
  std::int64_t file_bytes = 0;
  std::int64_t modified = 0;  // seconds: when it was last used, about
};

// Opens relative to the folder, following no link and waiting for nothing; takes only regular files
// with one link that nobody but root, this user and `owner` can write. `path` is for the text.
[[nodiscard]] ReadResult read_entry(int folder,
                                    const std::string& file,
                                    const std::string& path,
                                    uid_t owner,
                                    Decompressor& decompressor);

}  // namespace kiln::cache
