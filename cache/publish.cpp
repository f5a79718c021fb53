// Making an entry visible, whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#include "cache/publish.hpp"

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kiln::cache {
namespace {

constexpr const char* kTemporaryFolder = "tmp";
// Long enough for the slowest write of the largest entry; a process stopped for longer just fails
// its rename.
constexpr std::int64_t kSweepAgeSeconds = 3600;

// A temporary file that is gone when this is, unless it was published.
class Temporary {
 public:
  Temporary(int folder, std::string name) : folder_(folder), name_(std::move(name)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!published_) ::unlinkat(folder_, name_.c_str(), 0);
  }
  void published() noexcept { published_ = true; }
  [[nodiscard]] const char* name() const noexcept { return name_.c_str(); }

 private:
  int folder_;
  std::string name_;
  bool published_ = false;
};

std::string advice(int error) {
  switch (error) {
    case ENOSPC:
      return "; free space or inodes there, or choose another cache folder";
    case EDQUOT:
      return "; the quota is used up: free space, or choose another cache folder";
    case EFBIG:
      return "; raise the limit on file sizes (ulimit -f)";
    case EROFS:
    case EACCES:
    case EPERM:
      return "; make it writable for this user, or choose another cache folder";
    default:
      return "";
  }
}

Published not_kept(const Root& root, const std::string& doing, int error) {
  return {
      PutResult::not_kept,
      // One cause an error: a full disk refuses folders and files in turn, and is told once.
      Problem{"put:" + std::to_string(error),
              "cannot " + doing + " in the cache folder " + root.path + ": " + errno_text(error) +
                  advice(error) + ". The kernel runs, but is compiled again by the next process"},
      error};
}

bool sync(int fd) noexcept {
  if (::fsync(fd) == 0) return true;
  return errno == EINVAL || errno == ENOTSUP || errno == EROFS;  // a file system without sync
}

// 0, or errno. EEXIST: something of that name is there.
int rename_new(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  if (::renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return errno;
  // File systems without the flag (NFS among them). Never link-and-unlink: until the unlink, the
  // entry would have two links, and readers would take it for a planted one. A lost race replaces
  // equal bytes by equal bytes.
  struct stat status {};
  if (::fstatat(to_folder, to, &status, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
  return ::renameat(from_folder, from, to_folder, to) == 0 ? 0 : errno;
}

// Nothing when all was written and is on the disk.
std::optional<Published> write_temporary(const Root& root,
                                         int fd,
                                         std::span<const std::byte> bytes) {
  // The umask may have taken the owner's own bits.
  if (::fchmod(fd, 0600) != 0) return not_kept(root, "set the mode of a file", errno);
  if (!file_limit_allows(bytes.size())) return not_kept(root, "write", EFBIG);
  if (!write_all(fd, bytes)) return not_kept(root, "write", errno);
  if (!sync(fd)) return not_kept(root, "sync", errno);
  return std::nullopt;
}

}  // namespace

Published publish(const Root& root, const EntryName& name, std::span<const std::byte> bytes) {
  bool created = false;
  const Descriptor temporaries = make_folder_at(root.version.get(), kTemporaryFolder, created);
  if (!temporaries) return not_kept(root, "make the folder v1/tmp", errno);
  Descriptor folder = make_folder_at(root.entries.get(), name.folder.c_str(), created);
  if (!folder) return not_kept(root, "make the folder v1/e/" + name.folder, errno);

  const std::string temporary_name = std::to_string(::getpid()) + "." + random_suffix();
  Descriptor file =
      open_at(temporaries.get(), temporary_name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file) return not_kept(root, "create a file", errno);
  Temporary temporary(temporaries.get(), temporary_name);
  if (auto failure = write_temporary(root, file.get(), bytes)) return std::move(*failure);
  // Network file systems report a failed write when the file is closed.
  if (::close(file.release()) != 0 && errno != EINTR) return not_kept(root, "close a file", errno);

  const int error =
      rename_new(temporaries.get(), temporary.name(), folder.get(), name.file.c_str());
  if (error == EEXIST) return {PutResult::already_there};
  if (error != 0) return not_kept(root, "rename a file", error);
  temporary.published();
  // Without this a power failure may lose the entry; it cannot make a bad one.
  if (!sync(folder.get())) {
    const std::string text = "cannot sync the cache folder " + root.path + "/v1/e/" + name.folder +
                             ": " + errno_text(errno) +
                             "; its entries may be lost when power fails";
    return {PutResult::stored, Problem{"put:sync", text}};
  }
  return {PutResult::stored};
}

void sweep_temporaries(const Root& root) noexcept {
  try {
    bool created = false;
    const Descriptor folder = make_folder_at(root.version.get(), kTemporaryFolder, created);
    if (!folder || created) return;
    // The file system's clock: the time it gives a file made now.
    const std::string probe_name = std::to_string(::getpid()) + "." + random_suffix();
    const Descriptor probe =
        open_at(folder.get(), probe_name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!probe) return;
    const Temporary temporary(folder.get(), probe_name);
    struct stat now {};
    std::vector<std::string> names;
    if (::fstat(probe.get(), &now) != 0 || !list_folder(folder.get(), names)) return;
    for (const std::string& name : names) {
      struct stat status {};
      if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (S_ISDIR(status.st_mode) || now.st_mtime - status.st_mtime < kSweepAgeSeconds) continue;
      ::unlinkat(folder.get(), name.c_str(), 0);
    }
  } catch (...) {
    // Out of memory: the next process sweeps.
  }
}

}  // namespace kiln::cache
