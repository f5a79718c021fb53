// Key files, and the folder of the public keys that are trusted.
// SPDX-License-Identifier: Apache-2.0
#include "cache/pack_key_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/pack_keys.hpp"
#include "cache/trust.hpp"

namespace kiln::cache {
namespace {

// A folder with more than this is not one of keys.
constexpr std::size_t kMaxTrustedKeys = 1024;

Problem file_problem(const char* doing, const std::string& path, int error) {
  return {std::string("key:") + doing + ":" + std::to_string(error),
          std::string("cannot ") + doing + " the key file " + path + ": " + errno_text(error)};
}

std::variant<std::string, Problem> read_opened(const Descriptor& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return file_problem("read", path, errno);
  if (!S_ISREG(status.st_mode))
    return Problem{"key:kind", "the key file " + path + " is not a regular file"};
  // One byte more than allowed tells a file that grows.
  std::string text(kMaxKeyFileBytes + 1, '\0');
  const std::ptrdiff_t got =
      read_all(file.get(), std::as_writable_bytes(std::span(text.data(), text.size())));
  if (got < 0) return file_problem("read", path, errno);
  text.resize(static_cast<std::size_t>(got));
  if (text.size() > kMaxKeyFileBytes)
    return Problem{"key:size", "the key file " + path + " is larger than 64 KiB; it is no key"};
  return text;
}

}  // namespace

std::variant<std::string, Problem> read_key_file(const std::string& path) {
  // Links are followed: mounted secrets are links.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return file_problem("open", path, errno);
  return read_opened(file, path);
}

std::optional<Problem> write_key_file(const std::string& path,
                                      std::string_view text,
                                      unsigned mode) {
  const Descriptor file = open_at(AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file) {
    Problem problem = file_problem("create", path, errno);
    if (errno == EEXIST) problem.text += "; keys are never replaced, choose another name";
    return problem;
  }
  if (write_all(file.get(), std::as_bytes(std::span(text))) &&
      ::fchmod(file.get(), static_cast<mode_t>(mode)) == 0 && ::fsync(file.get()) == 0) {
    return std::nullopt;
  }
  const int error = errno;
  (void)::unlink(path.c_str());
  return file_problem("write", path, error);
}

std::variant<std::string, Problem> trust_key(const std::string& public_key,
                                             const std::string& folder) {
  auto read = read_public_key(public_key);
  if (auto* problem = std::get_if<Problem>(&read)) return std::move(*problem);
  const Sha256 id = key_id(std::get<Ed25519Public>(read));
  auto text = read_key_file(public_key);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  if (!make_folders(folder)) {
    return Problem{"key:folder",
                   "cannot create the folder of trusted keys " + folder + ": " + errno_text(errno)};
  }
  const TrustedKeys before = read_trusted_keys(folder);
  if (std::ranges::find(before.keys, id, &TrustedKey::id) != before.keys.end()) return hex(id);
  for (const Problem& problem : before.problems) {
    if (problem.cause == "keys:distrust") return problem;
  }
  const std::string path = folder + "/" + hex(id) + ".pem";
  if (auto problem = write_key_file(path, std::get<std::string>(text), 0644))
    return std::move(*problem);
  return hex(id);
}

TrustedKeys read_trusted_keys(const std::string& folder) {
  TrustedKeys found;
  if (folder.empty()) return found;
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.c_str(), nullptr),
                                                         &std::free);
  const auto fail = [&](int error) {
    found.problems.push_back({"keys:folder:" + std::to_string(error),
                              "cannot read the folder of trusted keys " + folder + ": " +
                                  errno_text(error) + "; no key is trusted"});
  };
  if (!real) {
    if (errno != ENOENT) fail(errno);
    return found;
  }
  const std::string path(real.get());
  // Whoever can put a key there decides which code runs.
  if (auto reason = distrust_folder(path, ::geteuid())) {
    found.problems.push_back({"keys:distrust", std::move(*reason)});
    return found;
  }
  const Descriptor opened = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
  std::vector<std::string> names;
  if (!opened || !list_folder(opened.get(), names)) {
    fail(errno);
    return found;
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    if (!name.ends_with(".pem") || found.keys.size() == kMaxTrustedKeys) continue;
    const std::string file = path + "/" + name;
    struct stat status {};
    auto key = read_public_key(file);
    if (auto* problem = std::get_if<Problem>(&key)) {
      found.problems.push_back(std::move(*problem));
    } else if (::stat(file.c_str(), &status) != 0) {
      found.problems.push_back(file_problem("read", file, errno));
    } else if (auto reason = distrust_status(status, file, ::geteuid())) {
      found.problems.push_back({"keys:file", std::move(*reason)});
    } else {
      const auto& bytes = std::get<Ed25519Public>(key);
      found.keys.push_back({file, key_id(bytes), bytes});
    }
  }
  return found;
}

}  // namespace kiln::cache
