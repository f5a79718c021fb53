// A pack: one immutable file of entries, read in place. The grammar is in docs/caching.md.
// SPDX-License-Identifier: Apache-2.0
#include "cache/pack.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/pack_format.hpp"
#include "cache/trust.hpp"

namespace kiln::cache {
namespace {

Problem unreadable(const std::string& path, int error) {
  return {"pack:unreadable:" + std::to_string(error),
          "the pack " + path + " cannot be read: " + errno_text(error)};
}

Problem not_used(std::string cause, const std::string& path, std::string_view reason) {
  return {"pack:" + std::move(cause), "the pack " + path + " is not used: " + std::string(reason)};
}

Problem damaged(const std::string& path, PackError error) {
  return not_used("format:" + std::to_string(static_cast<int>(error)), path, sentence(error));
}

// False and errno, or false and errno 0 when the file ends before.
bool read_at(int fd, std::uint64_t offset, std::span<std::byte> bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (got == 0) errno = 0;
      return false;
    }
    done += static_cast<std::size_t>(got);
  }
  return true;
}

Problem short_read(const std::string& path) {
  if (errno != 0) return unreadable(path, errno);
  return damaged(path, PackError::truncated);
}

std::variant<PackHead, Problem> read_head(int fd, const std::string& path, std::uint64_t size) {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(kPackHeaderBytes, size));
  if (!read_at(fd, 0, bytes)) return short_read(path);
  const auto header = decode_header(bytes, size);
  if (const auto* error = std::get_if<PackError>(&header)) return damaged(path, *error);
  const auto& sizes = std::get<PackHeader>(header);
  bytes.resize(kPackHeaderBytes + sizes.tail_bytes());
  if (!read_at(fd, sizes.index_offset(), std::span(bytes).subspan(kPackHeaderBytes)))
    return short_read(path);
  auto head = decode_head(sizes, bytes);
  if (const auto* error = std::get_if<PackError>(&head)) return damaged(path, *error);
  return std::move(std::get<PackHead>(head));
}

struct Judged {
  PackSignature signature = PackSignature::none;
  std::string reason;  // why it is not trusted
};

Judged judge(const PackHead& head, const std::string& folder) {
  const std::string where = folder.empty() ? "no folder of trusted keys is set (KILN_TRUSTED_KEYS)"
                                           : "the trusted keys are in " + folder;
  if (!head.signature) return {PackSignature::none, "it is not signed; " + where};
  const TrustedKeys trusted = read_trusted_keys(folder);
  const auto key = std::ranges::find(trusted.keys, head.signature->key_id, &TrustedKey::id);
  if (key == trusted.keys.end()) {
    std::string reason = "it is signed by the key " + hex(head.signature->key_id) +
                         ", which is not trusted; " + where;
    for (const Problem& problem : trusted.problems) reason += "; " + problem.text;
    return {PackSignature::untrusted, std::move(reason)};
  }
  if (!signature_is_right(key->key, signed_message(head.checksum), head.signature->signature))
    return {PackSignature::wrong, "its signature is not that of " + key->path};
  return {PackSignature::trusted, {}};
}

// A file that others can write is trusted only as far as its signature goes.
std::optional<std::string> distrust_pack(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errno_text(errno);
  return distrust_folder(path, status.st_uid);
}

}  // namespace

std::variant<Pack, Problem> Pack::open(const std::string& path, const SignatureCheck& check) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return unreadable(path, errno);
  Descriptor file = open_at(AT_FDCWD, real.get(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return unreadable(path, errno);
  auto opened = open(std::move(file), real.get(), check);
  if (const auto* pack = std::get_if<Pack>(&opened)) {
    if (pack->signature_ == PackSignature::trusted) return opened;
    // Whoever named the pack chose to trust its owner, as with a folder.
    if (auto reason = distrust_pack(real.get())) return not_used("distrust", path, *reason);
  }
  return opened;
}

std::variant<Pack, Problem> Pack::open(Descriptor file,
                                       const std::string& path,
                                       const SignatureCheck& check) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return unreadable(path, errno);
  if (!S_ISREG(status.st_mode)) return not_used("kind", path, "it is not a regular file");
  try {
    auto read = read_head(file.get(), path, static_cast<std::uint64_t>(status.st_size));
    if (auto* problem = std::get_if<Problem>(&read)) return std::move(*problem);
    auto& head = std::get<PackHead>(read);
    Pack pack;
    pack.path_ = path;
    pack.file_bytes_ = status.st_size;
    pack.checksum_ = head.checksum;
    if (head.signature) {
      pack.key_id_ = hex(head.signature->key_id);
      pack.signature_ = PackSignature::untrusted;
    }
    if (check.policy != SignaturePolicy::off) {
      Judged judged = judge(head, check.trusted_keys);
      if (judged.signature == PackSignature::wrong ||
          (check.policy == SignaturePolicy::require && judged.signature != PackSignature::trusted))
        return not_used("signature", path, judged.reason);
      pack.signature_ = judged.signature;
      if (!judged.reason.empty())
        pack.warning_ = "the pack " + path + " is used although " + judged.reason;
    }
    pack.entries_ = std::move(head.entries);
    pack.manifest_ = std::move(head.manifest);
    pack.manifest_json_ = std::move(head.manifest_json);
    pack.file_ = std::move(file);
    return pack;
  } catch (const std::bad_alloc&) {
    return not_used("memory", path, "there is not enough memory for its index");
  }
}

const PackEntry* Pack::find(const Digest& digest) const noexcept {
  const auto found = std::ranges::lower_bound(entries_, digest, {}, &PackEntry::digest);
  return found != entries_.end() && found->digest == digest ? &*found : nullptr;
}

std::span<const PackEntry> Pack::find_kernel(const Sha256& kernel) const noexcept {
  const auto kernel_of = [](const PackEntry& entry) { return entry.digest.kernel; };
  const auto first = std::ranges::lower_bound(entries_, kernel, {}, kernel_of);
  const auto last = std::ranges::upper_bound(first, entries_.end(), kernel, {}, kernel_of);
  return {first, last};
}

std::variant<std::vector<std::byte>, Problem> Pack::read(const PackEntry& entry) const {
  const std::string path = pack_entry_path(path_, entry.digest);
  std::vector<std::byte> bytes(entry.bytes);
  if (!read_at(file_.get(), entry.offset, bytes)) {
    if (errno != 0) return unreadable(path, errno);
    return not_used("short", path, "the file was cut after it had been opened");
  }
  if (sha256(bytes) != entry.checksum)
    return not_used("entry", path, "the entry's bytes are not those of the index");
  return bytes;
}

std::variant<Entry, Problem> Pack::load(const PackEntry& entry, EntryChecksum checksum) const {
  try {
    return load_now(entry, checksum);
  } catch (const std::bad_alloc&) {
    return unreadable(pack_entry_path(path_, entry.digest), ENOMEM);
  }
}

std::variant<Entry, Problem> Pack::load_now(const PackEntry& entry, EntryChecksum checksum) const {
  auto bytes = read(entry);
  if (auto* problem = std::get_if<Problem>(&bytes)) return std::move(*problem);
  auto decoded = decode_entry(std::get<std::vector<std::byte>>(bytes), *decompressor_, checksum);
  const std::string path = pack_entry_path(path_, entry.digest);
  if (const auto* error = std::get_if<EntryError>(&decoded))
    return not_used("entry", path, sentence(*error));
  if (digest(std::get<Entry>(decoded).key) != entry.digest)
    return not_used("name", path, "it is the entry of another key");
  return std::move(std::get<Entry>(decoded));
}

std::vector<VerifyProblem> Pack::verify() const {
  std::vector<VerifyProblem> problems;
  for (const PackEntry& entry : entries_) {
    const auto loaded = load(entry, EntryChecksum::check);
    if (const auto* problem = std::get_if<Problem>(&loaded))
      problems.push_back({pack_entry_path(path_, entry.digest), problem->text});
  }
  return problems;
}

std::string pack_entry_path(const std::string& pack, const Digest& digest) {
  return pack + "#" + digest.kernel_hex() + "." + digest.toolchain_hex();
}

}  // namespace kiln::cache
