// Looking for entries in the root and then in the layers, and dealing with what is bad there.
// SPDX-License-Identifier: Apache-2.0
#include "cache/search.hpp"

#include <algorithm>

#include "cache/describe.hpp"
#include "cache/quarantine.hpp"
#include "cache/scan.hpp"

namespace kiln::cache {
namespace {

// Moves the cubin out of the result.
Found make_found(ReadResult& result, const Root& root, const EntryName& name, RootKind kind) {
  Found found;
  found.info = describe(*result.entry, result.file_bytes);
  found.cubin = std::move(result.entry->cubin);
  found.from_layer = kind == RootKind::layer;
  found.path = entry_path(root, name);
  return found;
}

}  // namespace

Search::Search(const StoreOptions& options, Counters& counters)
    : counters_(counters), warnings_(options.log) {
  if (!options.root.empty()) places_.push_back({options.root, RootKind::own});
  for (const std::string& layer : options.layers) places_.push_back({layer, RootKind::layer});
}

std::optional<Root> Search::open(const Place& place) {
  auto opened = open_root(place.path, place.kind);
  if (auto* root = std::get_if<Root>(&opened)) return std::move(*root);
  if (const auto* problem = std::get_if<Problem>(&opened)) {
    warnings_.give(problem->cause + " " + place.path, problem->text);
  }
  return std::nullopt;
}

std::optional<Found> Search::look(const Key& key) {
  // An entry is always some toolchain's: a key without one has no entry of its own.
  if (key.toolchain.empty()) return std::nullopt;
  const EntryName name = entry_name(digest(key));
  for (const Place& place : places_) {
    const auto root = open(place);
    if (!root) continue;
    if (auto found = look_in(*root, place.kind, key, name)) return found;
  }
  return std::nullopt;
}

std::vector<Found> Search::look_any(const Key& key) {
  const EntryName name = entry_name(digest(key));
  std::vector<Candidate> all;
  for (const Place& place : places_) {
    if (const auto root = open(place)) look_any_in(*root, place.kind, name, all);
  }
  // Stable: of equal versions, an earlier place's comes first.
  std::ranges::stable_sort(all, is_newer, &Candidate::toolchain);
  std::vector<Found> found;
  found.reserve(all.size());
  for (Candidate& candidate : all) found.push_back(std::move(candidate.found));
  return found;
}

std::optional<Found> Search::look_in(const Root& root,
                                     RootKind kind,
                                     const Key& key,
                                     const EntryName& name) {
  ReadResult result;
  const Descriptor folder = open_entry_folder(root, name.folder, result);
  if (!folder) {
    if (result.state != ReadState::missing)
      met_bad(root, kind, root.entries.get(), name.folder, result);
    return std::nullopt;
  }
  result = read_entry(folder.get(), name.file, entry_path(root, name), root.owner);
  if (result.state == ReadState::found && result.entry->key != key) {
    result.state = ReadState::bad;
    result.cause = "bad:name";
    result.reason = "it is the entry of another key";
  }
  if (result.state == ReadState::found) return make_found(result, root, name, kind);
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
    result = read_named_entry(root, folder.get(), name);
    if (result.state == ReadState::missing) continue;
    if (result.state != ReadState::found) {
      met_bad(root, kind, folder.get(), file, result);
      continue;
    }
    Candidate candidate{toolchain_of(result.entry->key), make_found(result, root, name, kind)};
    // An earlier place may have this toolchain's already.
    const auto same = [&](const Candidate& other) {
      return other.found.info.digest == candidate.found.info.digest;
    };
    if (std::ranges::none_of(all, same)) all.push_back(std::move(candidate));
  }
}

void Search::count_hit(const Found& found) noexcept {
  ++(found.from_layer ? counters_.layer_hits : counters_.hits);
}

void Search::met_bad(const Root& root,
                     RootKind kind,
                     int folder,
                     const std::string& file,
                     const ReadResult& result) {
  const std::string what =
      "the cache entry " + file + " in " + root.path + " is not used: " + result.reason;
  if (result.state == ReadState::unreadable) {
    warnings_.give(result.cause, what);
    return;
  }
  ++counters_.bad;
  std::string error;
  if (kind == RootKind::layer) {
    warnings_.give(result.cause, what + "; the layer is left as it is");
  } else if (move_aside(root, folder, file, result.id, error)) {
    ++counters_.quarantined;
    warnings_.give(result.cause, what + "; it was moved to v1/bad and is compiled again");
  } else {
    warnings_.give(result.cause, what + "; it cannot be moved to v1/bad: " + error);
  }
}

}  // namespace kiln::cache
