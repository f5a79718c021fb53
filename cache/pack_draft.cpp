// A pack while it is written: invisible until it is whole.
// SPDX-License-Identifier: Apache-2.0
#include "cache/pack_draft.hpp"

#include <cerrno>
#include <cstdio>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kiln::cache {
namespace {

constexpr mode_t kPackMode = 0644;  // packs are made to be given away
constexpr std::string_view kTemporaryEnd = ".tmp";
constexpr std::int64_t kSweepSeconds = 3600;

// Age by the file system's own clock: `now` is what it gave to a file made just now.
void sweep(int folder, std::string_view beginning, std::int64_t now) {
  std::vector<std::string> names;
  if (!list_folder(folder, names)) return;
  for (const std::string& name : names) {
    if (!name.starts_with(beginning) || !name.ends_with(kTemporaryEnd)) continue;
    struct stat status {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(status.st_mode) && now - status.st_mtim.tv_sec > kSweepSeconds)
      (void)::unlinkat(folder, name.c_str(), 0);
  }
}

}  // namespace

PackDraft::PackDraft(PackDraft&& other) noexcept
    : path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      folder_(std::move(other.folder_)),
      file_(std::move(other.file_)),
      bytes_(other.bytes_) {}

PackDraft::~PackDraft() {
  if (folder_ && !temporary_.empty()) (void)::unlinkat(folder_.get(), temporary_.c_str(), 0);
}

std::string PackDraft::temporary_name() const {
  // The pack's own name may have as many bytes as a name can.
  return "." + name_.substr(0, 200) + "." + random_suffix() + std::string(kTemporaryEnd);
}

std::variant<PackDraft, Problem> PackDraft::create(const std::string& path) {
  PackDraft made;
  made.path_ = path;
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  made.name_ = slash == std::string::npos ? path : path.substr(slash + 1);
  if (made.name_.empty() || made.name_ == "." || made.name_ == "..")
    return Problem{"pack:name", "'" + path + "' names no file; write PATH/NAME.kpack"};
  // Links on the way are the caller's.
  made.folder_ = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!made.folder_) return made.problem("create");
  // A nameless file gets its name through /proc, which a bare chroot lacks.
  if (::access("/proc/self/fd", X_OK) == 0)
    made.file_ = open_at(made.folder_.get(), ".", O_TMPFILE | O_RDWR, kPackMode);
  if (!made.file_) {
    std::string name = made.temporary_name();
    made.file_ = open_at(made.folder_.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL, kPackMode);
    if (!made.file_) return made.problem("create");
    made.temporary_ = std::move(name);
  }
  struct stat status {};
  if (::fstat(made.file_.get(), &status) == 0)
    sweep(made.folder_.get(), "." + made.name_.substr(0, 200) + ".", status.st_mtim.tv_sec);
  return made;
}

std::optional<Problem> PackDraft::append(std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  if (!file_limit_allows(bytes_))
    errno = EFBIG;
  else if (write_all(file_.get(), bytes))
    return std::nullopt;
  return problem("write");
}

std::optional<Problem> PackDraft::overwrite_beginning(std::span<const std::byte> bytes) {
  if (::lseek(file_.get(), 0, SEEK_SET) != 0 || !write_all(file_.get(), bytes))
    return problem("write");
  return std::nullopt;
}

std::optional<Problem> PackDraft::publish() {
  if (::fsync(file_.get()) != 0) return problem("write");
  const std::string self = "/proc/self/fd/" + std::to_string(file_.get());
  const auto link_as = [&](const std::string& name) {
    return ::linkat(AT_FDCWD, self.c_str(), folder_.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (temporary_.empty() && !link_as(name_)) {
    if (errno != EEXIST) return problem("name");
    // Only a rename replaces.
    std::string name = temporary_name();
    if (!link_as(name)) return problem("name");
    temporary_ = std::move(name);
  }
  if (!temporary_.empty()) {
    if (::renameat(folder_.get(), temporary_.c_str(), folder_.get(), name_.c_str()) != 0)
      return problem("name");
    temporary_.clear();
  }
  // Some network file systems cannot sync a folder; the pack is there all the same.
  (void)::fsync(folder_.get());
  return std::nullopt;
}

Problem PackDraft::problem(const char* doing) const {
  const int error = errno;
  return {std::string("pack:") + doing + ":" + std::to_string(error),
          std::string("cannot ") + doing + " the pack " + path_ + ": " + errno_text(error)};
}

}  // namespace kiln::cache
