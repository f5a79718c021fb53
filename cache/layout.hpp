// Where things are under a cache root: names, and folders opened through descriptors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <sys/types.h>

#include "cache/descriptor.hpp"
#include "src/core/digest.hpp"

namespace kiln::cache {

// <root>/v1/e/<folder>/<file>, with <root>/v1/tmp and <root>/v1/bad beside e.
struct EntryName {
  std::string folder;  // 2 hex digits
  std::string file;    // 62 hex digits '.' 16 hex digits of the toolchain ".k"

  auto operator<=>(const EntryName&) const = default;
};

[[nodiscard]] EntryName entry_name(const Digest& digest);
// What the file names of this kernel begin with, whatever the toolchain.
[[nodiscard]] std::string kernel_prefix(const EntryName& name);
[[nodiscard]] bool is_entry_folder(std::string_view name) noexcept;
[[nodiscard]] bool is_entry_file(std::string_view name) noexcept;

// Something that went wrong. `cause` is stable, so that each cause is logged once.
struct Problem {
  std::string cause;
  std::string text;
};

// A root that passed the checks. Nothing is held between calls: a root that is removed or replaced
// while the process runs is seen as it is.
struct Root {
  std::string path;  // absolute, links resolved
  uid_t owner = 0;
  Descriptor version;  // v1
  Descriptor entries;  // v1/e; absent in a root that has none yet
};

// There is no such root yet: not a problem when reading.
struct NoRoot {};

enum class RootKind { own, layer };

// Creates nothing.
[[nodiscard]] std::variant<Root, NoRoot, Problem> open_root(const std::string& path, RootKind kind);
// Creates what is missing: folders of mode 0700 whatever the umask, and CACHEDIR.TAG.
[[nodiscard]] std::variant<Root, Problem> open_root_for_writing(const std::string& path);

// Makes a folder of mode 0700, whatever the umask, when it is missing, and opens it. Not open and
// errno on failure; `created` tells which.
[[nodiscard]] Descriptor make_folder_at(int folder, const char* name, bool& created) noexcept;
// The same for a path, with missing parents.
[[nodiscard]] bool make_folders(const std::string& path);

// "<root>/v1/e/<folder>/<file>"
[[nodiscard]] std::string entry_path(const std::string& root, const EntryName& name);

}  // namespace kiln::cache
