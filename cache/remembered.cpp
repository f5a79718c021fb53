// Compiles and loads that failed, remembered for a while in v1/neg.
// SPDX-License-Identifier: Apache-2.0
#include "cache/remembered.hpp"

#include <array>
#include <ctime>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/clock.hpp"
#include "cache/trust.hpp"

namespace kiln::cache {
namespace {

constexpr const char* kFolder = "neg";
constexpr std::string_view kMagic = "KILNNEG1";
constexpr std::size_t kChecksumBytes = 32;
// The subject is a key's digest and a driver's version.
constexpr std::size_t kMaxBytes = kMaxRememberedLog + 1024;

std::string encode(std::string_view subject, std::string_view log) {
  std::string text(kMagic);
  text += subject;
  text += '\0';
  text += log.substr(0, kMaxRememberedLog);
  const Sha256 checksum = sha256(text);
  text.append(reinterpret_cast<const char*>(checksum.data()), checksum.size());
  return text;
}

std::optional<std::string> decode(std::string_view bytes, std::string_view subject) {
  if (bytes.size() < kMagic.size() + kChecksumBytes) return std::nullopt;
  std::string_view body = bytes.substr(0, bytes.size() - kChecksumBytes);
  const Sha256 checksum = sha256(body);
  const std::string_view expected(reinterpret_cast<const char*>(checksum.data()), checksum.size());
  if (bytes.substr(body.size()) != expected || !body.starts_with(kMagic)) return std::nullopt;
  body.remove_prefix(kMagic.size());
  if (!body.starts_with(subject) || body.size() <= subject.size() || body[subject.size()] != '\0')
    return std::nullopt;
  return std::string(body.substr(subject.size() + 1));
}

// By the file system's clock; where nothing may be touched, by this machine's.
std::int64_t now_of(const Root& root) {
  const Descriptor lock = open_gc_lock(root.version.get());
  const auto now = lock ? filesystem_seconds(lock.get()) : std::nullopt;
  return now ? *now : static_cast<std::int64_t>(std::time(nullptr));
}

}  // namespace

std::string failure_name(const Digest& digest) {
  return digest.kernel_hex() + "." + digest.toolchain_hex() + ".f";
}

std::string refusal_name(const Digest& digest, std::string_view driver) {
  const Sha256 hash = sha256(driver);
  return digest.kernel_hex() + "." + digest.toolchain_hex() + "." + hex(std::span(hash).first(8)) +
         ".l";
}

bool remember(const Root& root,
              const std::string& name,
              std::string_view subject,
              std::string_view log) {
  bool created = false;
  const Descriptor temporaries = make_folder_at(root.version.get(), "tmp", created);
  const Descriptor folder = make_folder_at(root.version.get(), kFolder, created);
  if (!temporaries || !folder) return false;
  const std::string temporary = std::to_string(::getpid()) + "." + random_suffix();
  const Descriptor file =
      open_at(temporaries.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file) return false;
  const std::string text = encode(subject, log);
  const bool written = ::fchmod(file.get(), 0600) == 0 && file_limit_allows(text.size()) &&
                       write_all(file.get(), std::as_bytes(std::span(text)));
  // Not synced: what a power failure leaves of it does not decode. A newer one replaces an older
  // one.
  const bool kept =
      written && ::renameat(temporaries.get(), temporary.c_str(), folder.get(), name.c_str()) == 0;
  if (!kept) ::unlinkat(temporaries.get(), temporary.c_str(), 0);
  return kept;
}

std::optional<Remembered> recall(const Root& root,
                                 const std::string& name,
                                 std::string_view subject) {
  const Descriptor folder = open_folder_at(root.version.get(), kFolder);
  if (!folder || distrust_descriptor(folder.get(), kFolder, root.owner)) return std::nullopt;
  const Descriptor file = open_at(folder.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_nlink != 1 || distrust_status(status, name, root.owner))
    return std::nullopt;
  const std::int64_t age = now_of(root) - status.st_mtime;
  // A second of slack: the kernel's coarse clock gives a file the time of its last tick.
  if (age < -1 || age >= kRememberedSeconds) return std::nullopt;
  if (status.st_size > static_cast<off_t>(kMaxBytes)) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  const auto got = read_all(file.get(), std::as_writable_bytes(std::span(text)));
  if (got < 0) return std::nullopt;
  auto log = decode(std::string_view(text).substr(0, static_cast<std::size_t>(got)), subject);
  if (!log) return std::nullopt;
  return Remembered{std::move(*log), std::chrono::seconds(kRememberedSeconds - age)};
}

void sweep_remembered(const Root& root, std::int64_t now) {
  const Descriptor folder = open_folder_at(root.version.get(), kFolder);
  if (!folder) return;
  visit_folder(folder.get(), [&](const char* file) {
    struct stat status {};
    if (::fstatat(folder.get(), file, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISDIR(status.st_mode)) return;
    const std::int64_t age = now - status.st_mtime;
    if (age < -1 || age >= kRememberedSeconds) ::unlinkat(folder.get(), file, 0);
  });
}

}  // namespace kiln::cache
