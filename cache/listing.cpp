// Listing and verifying everything a store can see.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cache/describe.hpp"
#include "cache/layout.hpp"
#include "cache/scan.hpp"
#include "cache/store.hpp"

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
    found.path = entry_path(root, name);
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

}  // namespace

std::vector<Found> Store::list() {
  std::vector<Found> all;
  const auto add = [&](const std::string& path, RootKind kind) {
    if (path.empty()) return;
    const auto opened = open_root(path, kind);
    if (const auto* root = std::get_if<Root>(&opened)) list_root(*root, kind, all);
  };
  add(options_.root, RootKind::own);
  for (const std::string& layer : options_.layers) add(layer, RootKind::layer);
  std::ranges::stable_sort(all, {}, [](const Found& found) { return found.info.digest; });
  return all;
}

std::vector<VerifyProblem> Store::verify(std::int64_t& checked) {
  checked = 0;
  std::vector<VerifyProblem> problems;
  const auto check = [&](const std::string& path, RootKind kind) {
    if (path.empty()) return;
    const auto opened = open_root(path, kind);
    if (const auto* problem = std::get_if<Problem>(&opened))
      problems.push_back({path, problem->text});
    if (const auto* root = std::get_if<Root>(&opened)) verify_root(*root, checked, problems);
  };
  check(options_.root, RootKind::own);
  for (const std::string& layer : options_.layers) check(layer, RootKind::layer);
  return problems;
}

}  // namespace kiln::cache
