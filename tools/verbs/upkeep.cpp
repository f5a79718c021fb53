// `kiln gc`, `clear` and `stats`.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "cache/layout.hpp"
#include "cache/store.hpp"
#include "tools/documents.hpp"
#include "tools/exit_code.hpp"
#include "tools/keys.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

std::string root_or_throw(const Policy& policy) {
  if (policy.cache_dir.empty()) throw Error(ErrorCode::invalid_policy, policy.cache_dir_reason);
  return policy.cache_dir;
}

}  // namespace

int gc(const GcVerbOptions& options) {
  const Policy policy = Policy::from_env();
  (void)root_or_throw(policy);
  cache::Store store(store_options(policy));
  cache::GcOptions wanted;
  wanted.dry_run = options.dry_run;
  wanted.max_bytes = options.max_bytes;
  if (options.max_days) wanted.max_age = std::chrono::hours(24 * *options.max_days);
  const cache::GcResult result = store.gc(wanted);
  if (options.json) {
    print(gc_document(result));
  } else if (result.ran) {
    print(fmt::format("{} kernels, {}; {} {}, {}; {} used within ten minutes stay\n",
                      result.entries,
                      human_bytes(static_cast<double>(result.bytes)),
                      result.removed,
                      options.dry_run ? "would go" : "removed",
                      human_bytes(static_cast<double>(result.removed_bytes)),
                      result.young));
  } else {
    remark(fmt::format("kiln: nothing was done: {}", result.reason));
  }
  return result.ran ? kDone : kFailed;
}

int clear(const ClearOptions& options) {
  const std::string root = root_or_throw(Policy::from_env());
  const auto opened = cache::open_root(root, cache::RootKind::own);
  if (const auto* problem = std::get_if<cache::Problem>(&opened))
    throw Error(ErrorCode::io_error, problem->text);
  const auto* there = std::get_if<cache::Root>(&opened);
  if (there == nullptr) {
    remark(fmt::format("kiln: {} holds nothing", root));
    return kDone;
  }
  if (!options.yes) {
    remark(
        fmt::format("kiln: this removes every kernel below {}/v1; say so with --yes", there->path));
    return kUsage;
  }
  // Only what kiln made, by name: others' things in the folder stay. Links are removed, not
  // followed.
  bool failed = false;
  for (const char* name : {"e", "tmp", "bad", "neg", "stat"}) {
    std::error_code error;
    fs::remove_all(fs::path(there->path) / "v1" / name, error);
    if (!error) continue;
    failed = true;
    remark(fmt::format("kiln: {}/v1/{} cannot be removed: {}", there->path, name, error.message()));
  }
  return failed ? kFailed : kDone;
}

int stats(const StatsOptions& options) {
  const Policy policy = Policy::from_env();
  (void)root_or_throw(policy);
  cache::Store store(store_options(policy));
  const std::vector<cache::Statistic> lines = store.statistics(options.zero);
  if (options.json) {
    print(stats_document(store.root(), lines));
    return kDone;
  }
  Table table({{"outcome"}, {"count", true}, {"meaning"}});
  for (const cache::Statistic& line : lines) {
    table.add({std::string(line.name), fmt::to_string(line.count), std::string(line.sentence)});
  }
  print(table.text(stdout_takes_colour()));
  return kDone;
}

}  // namespace kiln::cli
