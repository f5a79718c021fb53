// Bad entries are moved aside, where a person can look at them and they are in nobody's way.
// SPDX-License-Identifier: Apache-2.0
#include "cache/quarantine.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kiln::cache {
namespace {

constexpr const char* kQuarantineFolder = "bad";

// Folders are removed only when empty: nothing that a person put here by mistake is deleted.
void remove_oldest(int folder) {
  std::vector<std::string> names;
  if (!list_folder(folder, names) || names.size() < kMaxQuarantined) return;
  std::vector<std::pair<std::int64_t, std::string>> by_age;
  for (std::string& name : names) {
    struct stat status {};
    // The change time is when it was moved here.
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      by_age.emplace_back(status.st_ctime, std::move(name));
    }
  }
  std::ranges::sort(by_age);
  std::size_t excess = names.size() - kMaxQuarantined + 1;
  for (const auto& [age, name] : by_age) {
    if (excess == 0) return;
    if (::unlinkat(folder, name.c_str(), 0) == 0 ||
        ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0)
      --excess;
  }
}

}  // namespace

bool move_aside(
    const Root& root, int folder, const std::string& name, const FileId& id, std::string& error) {
  bool created = false;
  const Descriptor aside = make_folder_at(root.version.get(), kQuarantineFolder, created);
  if (!aside) {
    error = errno_text(errno);
    return false;
  }
  remove_oldest(aside.get());
  // Another process may have moved it and published a good one since.
  struct stat status {};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      FileId{status.st_dev, status.st_ino} != id) {
    error = "it has changed since";
    return false;
  }
  const std::string new_name = name + "." + random_suffix();
  if (::renameat(folder, name.c_str(), aside.get(), new_name.c_str()) == 0) return true;
  error = errno_text(errno);
  return false;
}

}  // namespace kiln::cache
