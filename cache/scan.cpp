// Going through the entries of a root.
// SPDX-License-Identifier: Apache-2.0
#include "cache/scan.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/trust.hpp"

namespace kiln::cache {
namespace {

ReadResult stray(std::string reason) {
  ReadResult result;
  result.state = ReadState::bad;
  result.cause = "bad:stray";
  result.reason = std::move(reason);
  return result;
}

}  // namespace

Descriptor open_entry_folder(const Root& root, const std::string& folder, ReadResult& result) {
  const std::string path = root.path + "/v1/e/" + folder;
  Descriptor opened = open_folder_at(root.entries.get(), folder.c_str());
  if (opened) {
    if (auto reason = distrust_descriptor(opened.get(), path, root.owner)) {
      result.state = ReadState::unreadable;
      result.cause = "folder:distrust";
      result.reason = std::move(*reason);
      return {};
    }
    return opened;
  }
  const int error = errno;
  if (error == ENOENT) return {};
  struct stat status {};
  const bool seen =
      ::fstatat(root.entries.get(), folder.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  const bool wrong_kind = seen && !S_ISDIR(status.st_mode);
  result.state = wrong_kind ? ReadState::bad : ReadState::unreadable;
  result.cause = wrong_kind ? "bad:folder" : "folder:" + std::to_string(error);
  result.reason = wrong_kind ? "it is not a folder" : errno_text(error);
  if (seen) result.id = {status.st_dev, status.st_ino};
  return {};
}

ReadResult read_named_entry(const Root& root,
                            int folder,
                            const EntryName& name,
                            Decompressor& decompressor) {
  ReadResult result =
      read_entry(folder, name.file, entry_path(root.path, name), root.owner, decompressor);
  if (result.state == ReadState::found && entry_name(digest(result.entry->key)) != name) {
    result.state = ReadState::bad;
    result.cause = "bad:name";
    result.reason = "it is the entry of another key";
    result.entry.reset();
  }
  return result;
}

void visit_entries(const Root& root, const Visit& visit) {
  std::vector<std::string> folders;
  if (!list_folder(root.entries.get(), folders)) {
    ReadResult result = stray("the folder v1/e cannot be listed: " + errno_text(errno));
    visit({}, result);
  }
  std::ranges::sort(folders);
  Decompressor decompressor;
  for (const std::string& folder : folders) {
    ReadResult problem;
    std::vector<std::string> files;
    const bool named = is_entry_folder(folder);
    const Descriptor opened = named ? open_entry_folder(root, folder, problem) : Descriptor();
    if (opened && !list_folder(opened.get(), files))
      problem = stray("it cannot be listed: " + errno_text(errno));
    if (!named) problem = stray("it has no entry's name");
    if (problem.state != ReadState::missing) visit({"", folder}, problem);
    std::ranges::sort(files);
    for (const std::string& file : files) {
      const EntryName name{folder, file};
      ReadResult result = is_entry_file(file)
                              ? read_named_entry(root, opened.get(), name, decompressor)
                              : stray("it has no entry's name");
      if (result.state != ReadState::missing) visit(name, result);
    }
  }
}

}  // namespace kiln::cache
