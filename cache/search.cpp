// Looking for entries in the root and then in the layers, and dealing with what is bad there.
// SPDX-License-Identifier: Apache-2.0
#include "cache/search.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/describe.hpp"
#include "cache/quarantine.hpp"
#include "cache/scan.hpp"
#include "cache/trust.hpp"

namespace kiln::cache {
namespace {

// Moves the cubin out of the result.
Found make_found(ReadResult& result,
                 const std::string& root,
                 const EntryName& name,
                 RootKind kind,
                 const Digest& digest) {
  Found found;
  found.info = describe(*result.entry, digest, result.file_bytes);
  found.cubin = std::move(result.entry->cubin);
  found.from_layer = kind == RootKind::layer;
  found.path = entry_path(root, name);
  return found;
}

Found make_found(Entry entry, const Pack& pack, const PackEntry& place) {
  Found found;
  found.info = describe(entry, place.digest, static_cast<std::int64_t>(place.bytes));
  found.cubin = std::move(entry.cubin);
  found.from_layer = true;
  found.from_pack = true;
  found.path = pack_entry_path(pack.path(), place.digest);
  return found;
}

// Whether an earlier place has this toolchain's already.
template <class Candidates>
bool has_digest(const Candidates& all, const Digest& digest) {
  return std::ranges::any_of(
      all, [&](const auto& candidate) { return candidate.found.info.digest == digest; });
}

}  // namespace

Search::Search(const StoreOptions& options, Tally& tally)
    : places_(places_of(options.root, options.layers, options.trusted_keys)),
      tally_(tally),
      warnings_(options.log) {}

std::optional<Root> Search::open(const Place& place) {
  if (place.refusal) {
    refuse(place, *place.refusal);
    return std::nullopt;
  }
  auto opened = open_root(place.path, place.kind);
  if (const auto* problem = std::get_if<Problem>(&opened)) refuse(place, *problem);
  auto* root = std::get_if<Root>(&opened);
  if (root == nullptr) return std::nullopt;
  if (place.gate) place.gate->remember(place.path, *root);
  if (place.reservation) warnings_.give(place.reservation->cause, place.reservation->text);
  return std::move(*root);
}

std::shared_ptr<const Pack> Search::open_pack(const Place& place) {
  std::optional<Problem> problem;
  auto pack = place.pack->open(problem);
  if (problem && pack) warnings_.give(problem->cause + " " + place.path, problem->text);
  if (problem && !pack) refuse(place, *problem);
  return pack;
}

void Search::refuse(const Place& place, const Problem& problem) {
  tally_.count(&Counters::refused_places, nullptr, problem.text);
  warnings_.give(problem.cause + " " + place.path, problem.text);
}

std::optional<Found> Search::look(const Key& key) {
  // An entry is always some toolchain's: a key without one has no entry of its own.
  if (key.toolchain.empty()) return std::nullopt;
  const Digest digest_of_key = digest(key);
  const Wanted wanted{key, digest_of_key, entry_name(digest_of_key)};
  for (const Place& place : places_) {
    std::optional<Found> found;
    if (place.pack) {
      if (const auto pack = open_pack(place)) found = look_in_pack(*pack, wanted);
    } else if (!look_again(place, wanted, found)) {
      if (const auto root = open(place)) found = look_in(*root, place.kind, wanted);
    }
    if (found) return found;
  }
  return std::nullopt;
}

std::vector<Found> Search::look_any(const Key& key) {
  const Digest wanted = digest(key);
  const EntryName name = entry_name(wanted);
  std::vector<Candidate> all;
  for (const Place& place : places_) {
    if (place.pack) {
      if (const auto pack = open_pack(place)) look_any_in_pack(*pack, wanted, all);
    } else if (const auto root = open(place)) {
      look_any_in(*root, place.kind, name, all);
    }
  }
  // Stable: of equal versions, an earlier place's comes first.
  std::ranges::stable_sort(all, is_newer, &Candidate::toolchain);
  std::vector<Found> found;
  found.reserve(all.size());
  for (Candidate& candidate : all) found.push_back(std::move(candidate.found));
  return found;
}

std::optional<Found> Search::look_in_pack(const Pack& pack, const Wanted& wanted) {
  const PackEntry* place = pack.find(wanted.digest);
  if (place == nullptr) return std::nullopt;
  auto loaded = pack.load(*place);
  if (auto* entry = std::get_if<Entry>(&loaded)) {
    if (entry->key == wanted.key) return make_found(std::move(*entry), pack, *place);
    loaded = Problem{"bad:name", "it is the entry of another key"};
  }
  met_bad_in_pack(pack, std::get<Problem>(loaded));
  return std::nullopt;
}

void Search::look_any_in_pack(const Pack& pack, const Digest& digest, std::vector<Candidate>& all) {
  for (const PackEntry& place : pack.find_kernel(digest.kernel)) {
    if (has_digest(all, place.digest)) continue;
    auto loaded = pack.load(place);
    if (auto* entry = std::get_if<Entry>(&loaded)) {
      const Toolchain toolchain = toolchain_of(entry->key);
      all.push_back({toolchain, make_found(std::move(*entry), pack, place)});
    } else {
      met_bad_in_pack(pack, std::get<Problem>(loaded));
    }
  }
}

bool Search::look_again(const Place& place, const Wanted& wanted, std::optional<Found>& found) {
  if (!place.gate) return false;
  const auto passed = place.gate->pass();
  if (!passed) return false;
  // Nobody else can change v1/e, so what its fan-out folder is now it is a moment later, too.
  const int entries = passed->entries.get();
  const std::string file = wanted.name.folder + "/" + wanted.name.file;
  const std::string path = entry_path(passed->root, wanted.name);
  struct stat folder {};
  if (::fstatat(entries, wanted.name.folder.c_str(), &folder, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT;
  if (!S_ISDIR(folder.st_mode) || distrust_status(folder, path, passed->owner)) return false;
  ReadResult result = read_entry(entries, file, path, passed->owner, decompressor_);
  if (result.state == ReadState::missing) return true;
  if (result.state != ReadState::found || result.entry->key != wanted.key) return false;
  if (place.kind == RootKind::own) recency_.used(entries, file, result.modified);
  found = make_found(result, passed->root, wanted.name, place.kind, wanted.digest);
  return true;
}

std::optional<Found> Search::look_in(const Root& root, RootKind kind, const Wanted& wanted) {
  const EntryName& name = wanted.name;
  ReadResult result;
  const Descriptor folder = open_entry_folder(root, name.folder, result);
  if (!folder) {
    if (result.state != ReadState::missing)
      met_bad(root, kind, root.entries.get(), name.folder, result);
    return std::nullopt;
  }
  result =
      read_entry(folder.get(), name.file, entry_path(root.path, name), root.owner, decompressor_);
  if (result.state == ReadState::found && result.entry->key != wanted.key) {
    result.state = ReadState::bad;
    result.cause = "bad:name";
    result.reason = "it is the entry of another key";
  }
  if (result.state == ReadState::found) {
    if (kind == RootKind::own) recency_.used(folder.get(), name.file, result.modified);
    return make_found(result, root.path, name, kind, wanted.digest);
  }
  if (result.state != ReadState::missing) met_bad(root, kind, folder.get(), name.file, result);
  return std::nullopt;
}

void Search::look_any_in(const Root& root,
                         RootKind kind,
                         const EntryName& wanted,
                         std::vector<Candidate>& all) {
  ReadResult result;
  const Descriptor folder = open_entry_folder(root, wanted.folder, result);
  std::vector<std::string> files;
  if (!folder) {
    if (result.state != ReadState::missing)
      met_bad(root, kind, root.entries.get(), wanted.folder, result);
    return;
  }
  if (!list_folder(folder.get(), files)) return;
  std::ranges::sort(files);
  const std::string prefix = kernel_prefix(wanted);
  for (const std::string& file : files) {
    if (!file.starts_with(prefix) || !is_entry_file(file)) continue;
    const EntryName name{wanted.folder, file};
    result = read_named_entry(root, folder.get(), name, decompressor_);
    if (result.state == ReadState::missing) continue;
    if (result.state != ReadState::found) {
      met_bad(root, kind, folder.get(), file, result);
      continue;
    }
    if (kind == RootKind::own) recency_.used(folder.get(), file, result.modified);
    const Digest its_own = digest(result.entry->key);
    Candidate candidate{toolchain_of(result.entry->key),
                        make_found(result, root.path, name, kind, its_own)};
    if (!has_digest(all, candidate.found.info.digest)) all.push_back(std::move(candidate));
  }
}

void Search::count_hit(const Found& found) noexcept {
  if (found.from_pack) tally_.count(&Counters::pack_hits, &found.info.digest, found.path);
  tally_.count(
      found.from_layer ? &Counters::layer_hits : &Counters::hits, &found.info.digest, found.path);
}

void Search::met_bad(const Root& root,
                     RootKind kind,
                     int folder,
                     const std::string& file,
                     const ReadResult& result) {
  const std::string what =
      "the cache entry " + file + " in " + root.path + " is not used: " + result.reason;
  if (result.state == ReadState::unreadable) {
    tally_.count(&Counters::unreadable, nullptr, what);
    warnings_.give(result.cause, what);
    return;
  }
  tally_.count(&Counters::bad, nullptr, what);
  std::string error;
  if (kind == RootKind::layer) {
    warnings_.give(result.cause, what + "; the layer is left as it is");
  } else if (move_aside(root, folder, file, result.id, error)) {
    tally_.count(&Counters::quarantined, nullptr, what);
    warnings_.give(result.cause, what + "; it was moved to v1/bad and is compiled again");
  } else {
    warnings_.give(result.cause, what + "; it cannot be moved to v1/bad: " + error);
  }
}

void Search::met_bad_in_pack(const Pack& pack, const Problem& problem) {
  const std::string what = "an entry of the pack " + pack.path() + " is not used: " + problem.text;
  tally_.count(&Counters::bad, nullptr, what);
  warnings_.give(problem.cause, what);
}

}  // namespace kiln::cache
