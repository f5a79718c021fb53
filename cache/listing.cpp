// Listing and verifying everything a store can see.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cache/describe.hpp"
#include "cache/layout.hpp"
#include "cache/scan.hpp"
#include "cache/store_state.hpp"

namespace kiln::cache {
namespace {

void list_root(const Root& root, RootKind kind, std::vector<Found>& all) {
  visit_entries(root, [&](const EntryName& name, ReadResult& result) {
    if (result.state != ReadState::found) return;
    Found found;
    found.info = describe(*result.entry, result.file_bytes);
    found.cubin = std::move(result.entry->cubin);
    found.cubin.image = {};
    found.from_layer = kind == RootKind::layer;
    found.path = entry_path(root.path, name);
    all.push_back(std::move(found));
  });
}

void verify_root(const Root& root, std::int64_t& checked, std::vector<VerifyProblem>& problems) {
  visit_entries(root, [&](const EntryName& name, const ReadResult& result) {
    ++checked;
    if (result.state == ReadState::found) return;
    const std::string folder = name.folder.empty() ? std::string() : name.folder + "/";
    problems.push_back({root.path + "/v1/e/" + folder + name.file, result.reason});
  });
}

void list_pack(const Pack& pack, std::vector<Found>& all) {
  for (const PackEntry& listed : pack.entries()) {
    auto loaded = pack.load(listed);
    auto* entry = std::get_if<Entry>(&loaded);
    if (entry == nullptr) continue;
    Found found;
    found.info = describe(*entry, static_cast<std::int64_t>(listed.bytes));
    found.cubin = std::move(entry->cubin);
    found.cubin.image = {};
    found.from_layer = true;
    found.from_pack = true;
    found.path = pack_entry_path(pack.path(), listed.digest);
    all.push_back(std::move(found));
  }
}

void verify_pack(const Place& place, std::int64_t& checked, std::vector<VerifyProblem>& problems) {
  std::optional<Problem> problem;
  const auto pack = place.pack->open(problem);
  if (problem) problems.push_back({place.path, problem->text});
  if (!pack) return;
  checked += static_cast<std::int64_t>(pack->entries().size());
  for (VerifyProblem& found : pack->verify()) problems.push_back(std::move(found));
}

}  // namespace

std::vector<Found> Store::list() {
  std::vector<Found> all;
  for (const Place& place : state_->search.places()) {
    if (place.pack) {
      if (const auto pack = state_->search.open_pack(place)) list_pack(*pack, all);
      continue;
    }
    const auto opened = open_root(place.path, place.kind);
    if (const auto* root = std::get_if<Root>(&opened)) list_root(*root, place.kind, all);
  }
  std::ranges::stable_sort(all, {}, [](const Found& found) { return found.info.digest; });
  return all;
}

std::vector<VerifyProblem> Store::verify(std::int64_t& checked) {
  checked = 0;
  std::vector<VerifyProblem> problems;
  for (const Place& place : state_->search.places()) {
    if (place.refusal) problems.push_back({place.path, place.refusal->text});
    if (place.refusal) continue;
    if (place.pack) {
      verify_pack(place, checked, problems);
      continue;
    }
    const auto opened = open_root(place.path, place.kind);
    if (const auto* problem = std::get_if<Problem>(&opened))
      problems.push_back({place.path, problem->text});
    if (const auto* root = std::get_if<Root>(&opened)) verify_root(*root, checked, problems);
  }
  return problems;
}

}  // namespace kiln::cache
