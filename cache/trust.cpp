// Who else could put code into a cache folder: a cubin runs on the GPU of whoever loads it.
// SPDX-License-Identifier: Apache-2.0
#include "cache/trust.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "cache/descriptor.hpp"

namespace kiln::cache {
namespace {

// The kernel shows owners that a user namespace does not map as this id; it is a real user
// elsewhere.
constexpr uid_t kOverflowUid = 65534;

// In a rootless container the host's root shows as the overflow id, and cannot be told from other
// users of the host.
bool is_unmapped(uid_t uid) {
  if (uid != kOverflowUid) return false;
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t first = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  bool any = false;
  while (map >> first >> outside >> count) {
    any = true;
    if (uid >= first && uid - first < count) return false;
  }
  return any;
}

// A user's private group, as Debian, Ubuntu and Fedora make them: named like the user, and nobody
// else is in it. Their umask of 002 makes folders that such a group can write.
bool is_private_group(gid_t gid, uid_t uid) {
  if (gid == 0) return false;  // container platforms run unrelated users in group 0
  std::array<char, 4096> user_text{};
  std::array<char, 4096> group_text{};
  struct passwd user {};
  struct passwd* user_found = nullptr;
  struct group group {};
  struct group* group_found = nullptr;
  if (::getpwuid_r(uid, &user, user_text.data(), user_text.size(), &user_found) != 0) return false;
  if (::getgrgid_r(gid, &group, group_text.data(), group_text.size(), &group_found) != 0)
    return false;
  if (user_found == nullptr || group_found == nullptr || user.pw_gid != gid) return false;
  if (std::strcmp(user.pw_name, group.gr_name) != 0) return false;
  for (char** member = group.gr_mem; *member != nullptr; ++member) {
    if (std::strcmp(*member, user.pw_name) != 0) return false;
  }
  return true;
}

bool is_trusted_user(uid_t uid, uid_t owner) {
  return uid == 0 || uid == ::geteuid() || uid == owner;
}

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777U));
  return text.data();
}

// Which bits let others write, after a private group is let off.
mode_t others_write(const struct stat& status) {
  mode_t bits = status.st_mode & (S_IWGRP | S_IWOTH);
  if ((bits & S_IWGRP) != 0 && is_private_group(status.st_gid, status.st_uid))
    bits &= ~mode_t{S_IWGRP};
  return bits;
}

std::string writable_text(const struct stat& status, const std::string& path, mode_t bits) {
  const std::string who =
      (bits & S_IWOTH) != 0 ? "anybody" : "group " + std::to_string(status.st_gid);
  return path + " (mode " + octal(status.st_mode) + ") can be written by " + who +
         ", who could put other code there; it is not used. Run `chmod go-w` on it, or choose "
         "another cache folder";
}

std::string owner_text(const struct stat& status, const std::string& path) {
  return path + " belongs to user " + std::to_string(status.st_uid) + ", not to user " +
         std::to_string(::geteuid()) +
         ", and its owner could put other code there; it is not used. Choose a cache folder of "
         "your own";
}

// A parent lets others replace what is below it, unless it is sticky like /tmp.
std::optional<std::string> distrust_parent(const struct stat& status,
                                           const std::string& path,
                                           uid_t owner) {
  if (!is_trusted_user(status.st_uid, owner) && !is_unmapped(status.st_uid))
    return owner_text(status, path);
  const mode_t bits = others_write(status);
  if (bits != 0 && (status.st_mode & S_ISVTX) == 0) return writable_text(status, path, bits);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> distrust_status(const struct stat& status,
                                           const std::string& path,
                                           uid_t owner) {
  if (!is_trusted_user(status.st_uid, owner)) return owner_text(status, path);
  const mode_t bits = others_write(status);
  if (bits != 0) return writable_text(status, path, bits);
  return std::nullopt;
}

std::optional<std::string> distrust_descriptor(int fd, const std::string& path, uid_t owner) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return "cannot examine " + path + ": " + errno_text(errno);
  return distrust_status(status, path, owner);
}

std::optional<std::string> distrust_folder(const std::string& path, uid_t owner) {
  for (std::size_t end = 1; end != std::string::npos && end < path.size();
       end = path.find('/', end + 1)) {
    const std::string parent = path.substr(0, end);
    struct stat status {};
    if (::stat(parent.c_str(), &status) != 0) {
      return "cannot examine " + parent + ": " + errno_text(errno) +
             "; choose another cache folder";
    }
    if (auto reason = distrust_parent(status, parent, owner)) return reason;
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return "cannot examine " + path + ": " + errno_text(errno) + "; choose another cache folder";
  }
  return distrust_status(status, path, owner);
}

}  // namespace kiln::cache
