// Looking a request up without doing it.
// SPDX-License-Identifier: Apache-2.0
#include "tools/warm/coverage.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/keys.hpp"
#include "tools/terminal.hpp"

namespace kiln::cli {
namespace {

Covered look_up(const Plan& plan, const std::vector<Key>& keys, cache::Store& store, bool sources) {
  Covered covered{plan.signature.text(), plan.arch.text(), Standing::cached, {}};
  if (keys.empty()) covered.standing = Standing::composed;
  for (const Key& key : keys) {
    if (!sources) {
      if (!store.explain(key, 0).found) covered.standing = Standing::missing;
      continue;
    }
    if (const std::optional<cache::Found> found = find_entry(store, key)) {
      covered.sources.push_back({found->info.digest, found->path});
    } else {
      covered.standing = Standing::missing;
    }
  }
  return covered;
}

}  // namespace

std::string_view to_string(Standing standing) noexcept {
  switch (standing) {
    case Standing::cached:
      return "cached";
    case Standing::missing:
      return "missing";
    case Standing::composed:
      return "composed";
  }
  return "missing";
}

Coverage cover(const std::vector<Job>& jobs, Service& service, cache::Store& store, bool sources) {
  const std::optional<Toolchain> toolchain = current_toolchain(service.options().policy);
  Coverage coverage;
  for (const Job& job : jobs) {
    try {
      const Plan plan = service.plan(job.signature, job.arch);
      coverage.jobs.push_back(look_up(plan, keys_of(plan, toolchain), store, sources));
    } catch (const Error& error) {  // as a candidate that this one has not: the others stand
      remark(
          fmt::format("kiln: {} on {}: {}", job.signature.text(), job.arch.text(), error.detail));
      coverage.jobs.push_back({.signature = job.signature.text(), .arch = job.arch.text()});
    }
    const Standing standing = coverage.jobs.back().standing;
    coverage.cached += standing == Standing::cached;
    coverage.missing += standing == Standing::missing;
    coverage.composed += standing == Standing::composed;
  }
  return coverage;
}

void write_bundle(const std::string& path,
                  const Coverage& coverage,
                  const std::string& recipe_name,
                  bool complete) {
  cache::PackContents contents;
  contents.recipe = recipe_name;
  contents.complete = complete && coverage.missing == 0;
  std::set<std::string> signatures;
  for (const Covered& covered : coverage.jobs) {
    signatures.insert(covered.signature);
    contents.sources.insert(contents.sources.end(), covered.sources.begin(), covered.sources.end());
  }
  contents.signatures.assign(signatures.begin(), signatures.end());
  if (auto problem = cache::write_pack(path, contents))
    throw Error(ErrorCode::io_error, std::move(problem->text));
}

}  // namespace kiln::cli
