// Making packs: entries copied verbatim, signed or not, taken apart again.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/describe.hpp"
#include "cache/pack.hpp"
#include "cache/pack_draft.hpp"
#include "cache/pack_format.hpp"
#include "cache/publish.hpp"

namespace kiln::cache {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kDigestDigits = 64 + 1 + 16;

Problem no_entry(const std::string& path, std::string_view reason) {
  return {"pack:source", "the entry " + path + " cannot be packed: " + std::string(reason)};
}

std::variant<Bytes, Problem> read_folder_entry(const std::string& path) {
  const Descriptor file = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return no_entry(path, errno_text(errno));
  if (!S_ISREG(status.st_mode)) return no_entry(path, "it is not a regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxEntryBytes) return no_entry(path, "it is larger than any entry");
  Bytes bytes(size);
  const std::ptrdiff_t got = read_all(file.get(), bytes);
  if (got < 0) return no_entry(path, errno_text(errno));
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

// Entries out of folders and of packs, each pack opened once.
class Sources {
 public:
  std::variant<Bytes, Problem> read(const PackSource& source) {
    // A folder's entry ends in ".k", which no digit is.
    const std::string& path = source.path;
    const std::size_t mark = path.size() > kDigestDigits ? path.size() - kDigestDigits - 1 : 0;
    if (mark == 0 || path[mark] != '#' || path.ends_with(".k")) return read_folder_entry(path);
    const std::string pack_path = path.substr(0, mark);
    auto found = packs_.find(pack_path);
    if (found == packs_.end()) {
      auto opened = Pack::open(pack_path);
      if (auto* problem = std::get_if<Problem>(&opened)) return std::move(*problem);
      found = packs_.emplace(pack_path, std::move(std::get<Pack>(opened))).first;
    }
    const PackEntry* entry = found->second.find(source.digest);
    if (entry == nullptr) return no_entry(path, "the pack does not hold it");
    return found->second.read(*entry);
  }

 private:
  std::map<std::string, Pack> packs_;
};

struct Contents {
  std::vector<PackEntry> entries;
  std::set<std::string> toolchains;
  std::set<std::string> architectures;
  std::uint64_t offset = kPackHeaderBytes;
};

std::optional<Problem> add(Sources& sources,
                           const PackSource& source,
                           PackDraft& file,
                           Contents& contents,
                           Decompressor& decompressor) {
  auto read = sources.read(source);
  if (auto* problem = std::get_if<Problem>(&read)) return std::move(*problem);
  const Bytes& bytes = std::get<Bytes>(read);
  const auto decoded = decode_entry(bytes, decompressor);
  if (const auto* error = std::get_if<EntryError>(&decoded))
    return no_entry(source.path, sentence(*error));
  const EntryInfo info = describe(std::get<Entry>(decoded), 0);
  if (info.digest != source.digest) return no_entry(source.path, "it is the entry of another key");
  if (auto problem = file.append(bytes)) return problem;
  contents.entries.push_back({source.digest, contents.offset, bytes.size(), sha256(bytes)});
  contents.offset += bytes.size();
  contents.toolchains.insert(info.toolchain);
  contents.architectures.insert(info.arch);
  return std::nullopt;
}

std::vector<std::string> sorted(std::vector<std::string> list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::string manifest_of(const PackContents& contents, const Contents& found) {
  return manifest_to_json({{found.toolchains.begin(), found.toolchains.end()},
                           {found.architectures.begin(), found.architectures.end()},
                           contents.recipe,
                           sorted(contents.signatures),
                           contents.complete});
}

// Header, index, manifest and checksum around the entries that are written already.
std::optional<Problem> finish(PackDraft& file,
                              PackHeader header,
                              std::span<const PackEntry> entries,
                              std::string_view manifest,
                              const std::string& private_key) {
  if (!private_key.empty()) header.signature_bytes = kSignatureBlockBytes;
  const Bytes head = encode_header(header);
  Bytes tail = encode_index(entries, manifest);
  Bytes covered = head;
  covered.insert(covered.end(), tail.begin(), tail.end());
  const Sha256 checksum = sha256(covered);
  const auto trailer = std::as_bytes(std::span(checksum));
  tail.insert(tail.end(), trailer.begin(), trailer.end());
  if (!private_key.empty()) {
    auto made = sign_with(private_key, signed_message(checksum));
    if (auto* problem = std::get_if<Problem>(&made)) return std::move(*problem);
    const Bytes block = encode_signature_block(std::get<Signed>(made));
    tail.insert(tail.end(), block.begin(), block.end());
  }
  if (auto problem = file.append(tail)) return problem;
  if (auto problem = file.overwrite_beginning(head)) return problem;
  return file.publish();
}

}  // namespace

std::optional<Problem> write_pack(const std::string& path, const PackContents& contents) {
  std::vector<PackSource> wanted = contents.sources;
  std::ranges::stable_sort(wanted, {}, &PackSource::digest);
  const auto same = [](const PackSource& a, const PackSource& b) { return a.digest == b.digest; };
  wanted.erase(std::unique(wanted.begin(), wanted.end(), same), wanted.end());
  if (wanted.size() > kMaxPackEntries)
    return Problem{"pack:entries", "a pack holds at most 1048576 entries; write several"};

  auto created = PackDraft::create(path);
  if (auto* problem = std::get_if<Problem>(&created)) return std::move(*problem);
  auto& file = std::get<PackDraft>(created);
  if (auto problem = file.append(Bytes(kPackHeaderBytes))) return problem;
  Sources sources;
  Contents found;
  Decompressor decompressor;
  for (const PackSource& source : wanted) {
    if (auto problem = add(sources, source, file, found, decompressor)) return problem;
  }
  const std::string manifest = manifest_of(contents, found);
  // What could not be read back must not be written.
  if (!manifest_from_json(manifest)) {
    return Problem{"pack:manifest",
                   "the manifest of " + path +
                       " is larger than 4 MiB, or its signatures are not "
                       "text; name fewer signatures"};
  }
  return finish(file,
                {found.entries.size(), manifest.size(), 0, found.offset - kPackHeaderBytes},
                found.entries,
                manifest,
                {});
}

std::optional<Problem> sign_pack(const std::string& path, const std::string& private_key) {
  auto opened = Pack::open(path);
  if (auto* problem = std::get_if<Problem>(&opened)) return std::move(*problem);
  const Pack& pack = std::get<Pack>(opened);
  auto created = PackDraft::create(pack.path());
  if (auto* problem = std::get_if<Problem>(&created)) return std::move(*problem);
  auto& file = std::get<PackDraft>(created);
  if (auto problem = file.append(Bytes(kPackHeaderBytes))) return problem;
  std::uint64_t entries_bytes = 0;
  for (const PackEntry& entry : pack.entries()) {
    // Nobody should sign what they did not check.
    const auto checked = pack.load(entry, EntryChecksum::check);
    if (const auto* problem = std::get_if<Problem>(&checked)) return *problem;
    auto bytes = pack.read(entry);
    if (auto* problem = std::get_if<Problem>(&bytes)) return std::move(*problem);
    if (auto problem = file.append(std::get<Bytes>(bytes))) return problem;
    entries_bytes += entry.bytes;
  }
  return finish(file,
                {pack.entries().size(), pack.manifest_json().size(), 0, entries_bytes},
                pack.entries(),
                pack.manifest_json(),
                private_key);
}

Unpacked unpack(const Pack& pack, const std::string& root) {
  Unpacked outcome;
  auto opened = open_root_for_writing(root);
  if (const auto* problem = std::get_if<Problem>(&opened)) {
    outcome.problems.push_back({root, problem->text});
    return outcome;
  }
  const Root& writable = std::get<Root>(opened);
  for (const PackEntry& entry : pack.entries()) {
    const std::string path = pack_entry_path(pack.path(), entry.digest);
    const auto checked = pack.load(entry, EntryChecksum::check);
    const auto bytes = pack.read(entry);
    const auto* problem = std::get_if<Problem>(&checked);
    if (problem == nullptr) problem = std::get_if<Problem>(&bytes);
    if (problem != nullptr) {
      outcome.problems.push_back({path, problem->text});
      continue;
    }
    const Published published = publish(writable, entry_name(entry.digest), std::get<Bytes>(bytes));
    if (published.result == PutResult::stored) ++outcome.stored;
    if (published.result == PutResult::already_there) ++outcome.already_there;
    if (published.result == PutResult::not_kept) {
      outcome.problems.push_back(
          {path, published.problem ? published.problem->text : "it cannot be kept in " + root});
    }
  }
  return outcome;
}

}  // namespace kiln::cache
