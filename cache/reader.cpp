// Reading one entry file, whatever is found in its place.
// SPDX-License-Identifier: Apache-2.0
#include "cache/reader.hpp"

#include <cerrno>
#include <new>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/descriptor.hpp"
#include "cache/trust.hpp"

namespace kiln::cache {
namespace {

ReadResult bad(ReadResult result, std::string cause, std::string reason) {
  result.state = ReadState::bad;
  result.cause = "bad:" + std::move(cause);
  result.reason = std::move(reason);
  return result;
}

ReadResult unreadable(ReadResult result, int error) {
  result.state = ReadState::unreadable;
  result.cause = "unreadable:" + std::to_string(error);
  result.reason = errno_text(error);
  return result;
}

ReadResult not_opened(int folder, const std::string& file, int error) {
  ReadResult result;
  if (error == ENOENT) return result;
  struct stat status {};
  if (::fstatat(folder, file.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return unreadable(result, error);
  result.id = {status.st_dev, status.st_ino};
  if (!S_ISREG(status.st_mode)) return bad(result, "kind", "it is not a regular file");
  if (error == EACCES && status.st_uid == ::geteuid() && (status.st_mode & S_IRUSR) == 0) {
    return bad(result, "mode", "its owner may not read it");
  }
  return unreadable(result, error);
}

}  // namespace

ReadResult read_entry(int folder,
                      const std::string& file,
                      const std::string& path,
                      uid_t owner,
                      Decompressor& decompressor) {
  // O_NONBLOCK: a FIFO must not make a reader wait for a writer.
  const Descriptor opened = open_at(folder, file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!opened) return not_opened(folder, file, errno);
  ReadResult result;
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) return unreadable(result, errno);
  result.id = {status.st_dev, status.st_ino};
  result.file_bytes = status.st_size;
  result.modified = status.st_mtime;
  if (!S_ISREG(status.st_mode)) return bad(result, "kind", "it is not a regular file");
  // Removed since it was opened, by eviction or a person.
  if (status.st_nlink == 0) return {};
  // Another name for the file lets it be changed from a folder that nobody checked.
  if (status.st_nlink != 1) return bad(result, "links", "it has more than one link");
  if (auto reason = distrust_status(status, path, owner))
    return bad(result, "distrust", std::move(*reason));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxEntryBytes) return bad(result, "size", "it is larger than any entry");

  // What is there may be a file of 96 MiB that only claims to be an entry.
  std::variant<Entry, EntryError> decoded;
  try {
    std::vector<std::byte> bytes(size);
    const std::ptrdiff_t got = read_all(opened.get(), bytes);
    if (got < 0) return unreadable(result, errno);
    bytes.resize(static_cast<std::size_t>(got));
    decoded = decode_entry(bytes, decompressor);
  } catch (const std::bad_alloc&) {
    return unreadable(result, ENOMEM);
  }
  if (const auto* error = std::get_if<EntryError>(&decoded)) {
    return bad(
        result, "entry:" + std::to_string(static_cast<int>(*error)), std::string(sentence(*error)));
  }
  result.state = ReadState::found;
  result.entry = std::move(std::get<Entry>(decoded));
  return result;
}

}  // namespace kiln::cache
