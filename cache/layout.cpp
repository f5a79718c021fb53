// Where things are under a cache root: names, and folders opened through descriptors.
// SPDX-License-Identifier: Apache-2.0
#include "cache/layout.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/trust.hpp"

namespace kiln::cache {
namespace {

constexpr std::size_t kFolderDigits = 2;
constexpr std::size_t kKernelDigits = 62;
constexpr std::size_t kToolchainDigits = 16;
constexpr mode_t kFolderMode = 0700;
constexpr const char* kVersionFolder = "v1";
constexpr const char* kEntriesFolder = "e";

// The convention backup tools know: https://bford.info/cachedir/
constexpr const char* kTagName = "CACHEDIR.TAG";
constexpr std::string_view kTagText =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Compiled GPU kernels of kiln; everything here is made again when it is missing.\n";

bool all_hex(std::string_view text) noexcept {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Problem root_problem(const std::string& path, const char* doing, int error) {
  return {std::string("root:") + doing + ":" + std::to_string(error),
          "cannot " + std::string(doing) + " the cache folder " + path + ": " + errno_text(error) +
              "; kernels are compiled but not kept there"};
}

std::optional<std::string> resolve(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return std::nullopt;
  return std::string(real.get());
}

// Opens the folder itself, after its whole path passed: nobody else can then swap a part of it.
std::variant<Descriptor, Problem> open_trusted(const std::string& real,
                                               RootKind kind,
                                               uid_t& owner) {
  struct stat status {};
  Descriptor folder = open_at(AT_FDCWD, real.c_str(), O_RDONLY | O_DIRECTORY);
  if (!folder || ::fstat(folder.get(), &status) != 0) return root_problem(real, "open", errno);
  // Whoever set a layer up chose to trust its owner; a root of one's own has nobody else to trust.
  owner = kind == RootKind::layer ? status.st_uid : ::geteuid();
  if (auto reason = distrust_folder(real, owner))
    return Problem{"root:distrust", std::move(*reason)};
  return folder;
}

// In a folder that holds other things as well, the tag goes one level down: it tells backups to
// skip its folder.
void write_tag(int root, int version) {
  std::vector<std::string> names;
  const bool ours_alone = list_folder(root, names) && names.size() == 1;
  const Descriptor tag =
      open_at(ours_alone ? root : version, kTagName, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!tag) return;
  (void)::fchmod(tag.get(), 0600);
  (void)write_all(tag.get(), std::as_bytes(std::span(kTagText)));
}

}  // namespace

EntryName entry_name(const Digest& digest) {
  const std::string kernel = digest.kernel_hex();
  return {kernel.substr(0, kFolderDigits),
          kernel.substr(kFolderDigits) + "." + digest.toolchain_hex() + ".k"};
}

std::string kernel_prefix(const EntryName& name) { return name.file.substr(0, kKernelDigits + 1); }

bool is_entry_folder(std::string_view name) noexcept {
  return name.size() == kFolderDigits && all_hex(name);
}

bool is_entry_file(std::string_view name) noexcept {
  return name.size() == kKernelDigits + 1 + kToolchainDigits + 2 &&
         all_hex(name.substr(0, kKernelDigits)) && name[kKernelDigits] == '.' &&
         all_hex(name.substr(kKernelDigits + 1, kToolchainDigits)) && name.ends_with(".k");
}

std::variant<Root, NoRoot, Problem> open_root(const std::string& path, RootKind kind) {
  const auto real = resolve(path);
  if (!real) {
    if (errno == ENOENT) return NoRoot{};
    return root_problem(path, "open", errno);
  }
  Root root;
  root.path = *real;
  auto opened = open_trusted(*real, kind, root.owner);
  if (auto* problem = std::get_if<Problem>(&opened)) return std::move(*problem);
  root.version = open_folder_at(std::get<Descriptor>(opened).get(), kVersionFolder);
  if (root.version) root.entries = open_folder_at(root.version.get(), kEntriesFolder);
  if (!root.entries && errno != ENOENT) return root_problem(*real, "read", errno);
  if (!root.entries) return NoRoot{};
  if (auto reason = distrust_descriptor(root.version.get(), root.path + "/v1", root.owner)) {
    return Problem{"root:distrust", std::move(*reason)};
  }
  if (auto reason = distrust_descriptor(root.entries.get(), root.path + "/v1/e", root.owner)) {
    return Problem{"root:distrust", std::move(*reason)};
  }
  return root;
}

std::variant<Root, Problem> open_root_for_writing(const std::string& path) {
  if (!make_folders(path)) return root_problem(path, "create", errno);
  const auto real = resolve(path);
  if (!real) return root_problem(path, "open", errno);
  Root root;
  root.path = *real;
  auto opened = open_trusted(*real, RootKind::own, root.owner);
  if (auto* problem = std::get_if<Problem>(&opened)) return std::move(*problem);
  const int folder = std::get<Descriptor>(opened).get();
  bool created = false;
  root.version = make_folder_at(folder, kVersionFolder, created);
  if (!root.version) return root_problem(*real, "write to", errno);
  if (created) write_tag(folder, root.version.get());
  root.entries = make_folder_at(root.version.get(), kEntriesFolder, created);
  if (!root.entries) return root_problem(*real, "write to", errno);
  for (const auto& [descriptor, name] :
       {std::pair{&root.version, "/v1"}, std::pair{&root.entries, "/v1/e"}}) {
    if (auto reason = distrust_descriptor(descriptor->get(), root.path + name, root.owner)) {
      return Problem{"root:distrust", std::move(*reason)};
    }
  }
  return root;
}

Descriptor make_folder_at(int folder, const char* name, bool& created) noexcept {
  created = ::mkdirat(folder, name, kFolderMode) == 0;
  if (!created && errno != EEXIST) {
    // A read-only file system says so even where the folder is there already.
    const int error = errno;
    Descriptor existing = open_folder_at(folder, name);
    if (!existing) errno = error;
    return existing;
  }
  // Only what was made here is changed: an umask may have taken the owner's own bits.
  if (created && ::fchmodat(folder, name, kFolderMode, 0) != 0) return {};
  return open_folder_at(folder, name);
}

bool make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), kFolderMode) == 0) {
      if (::chmod(part.c_str(), kFolderMode) != 0) return false;
    } else {
      const int error = errno;
      struct stat status {};
      if (::stat(part.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        errno = error == EEXIST ? ENOTDIR : error;
        return false;
      }
    }
    if (end == std::string::npos) return true;
  }
}

std::string entry_path(const std::string& root, const EntryName& name) {
  return root + "/v1/e/" + name.folder + "/" + name.file;
}

}  // namespace kiln::cache
