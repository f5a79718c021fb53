// `kiln list` and `kiln verify`: what is in the cache, and whether every byte of it is right.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cache/store.hpp"
#include "tools/documents.hpp"
#include "tools/exit_code.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::cli {
namespace {

cache::StoreOptions store_options() {
  const Policy policy = Policy::from_env();
  if (policy.cache_dir.empty())
    remark(fmt::format("kiln: there is no cache folder: {}", policy.cache_dir_reason));
  cache::StoreOptions options;
  options.root = policy.cache_dir;
  options.layers = policy.cache_layers;
  options.log = [](LogLevel, std::string_view message) {
    remark(fmt::format("kiln: warning: {}", message));
  };
  return options;
}

std::string as_table(const std::vector<cache::Found>& entries, bool colour) {
  Table table({{"digest"},
               {"arch"},
               {"registers", true},
               {"spills", true},
               {"size", true},
               {"from"},
               {"toolchain"},
               {"signature"}});
  for (const cache::Found& entry : entries) {
    const cache::EntryInfo& info = entry.info;
    table.add({info.digest.kernel_hex().substr(0, 12),
               info.arch,
               fmt::to_string(info.registers),
               fmt::to_string(info.spill_bytes),
               human_bytes(static_cast<double>(info.file_bytes)),
               std::string(entry.from_layer ? "layer" : "folder"),
               info.digest.toolchain_hex(),
               info.signature});
  }
  return table.text(colour);
}

}  // namespace

int list(const CacheOptions& options) {
  cache::Store store(store_options());
  const std::vector<cache::Found> entries = store.list();
  if (options.json) {
    print(list_document(store.root(), entries));
    return kDone;
  }
  if (!entries.empty()) print(as_table(entries, stdout_takes_colour()));
  remark(fmt::format("kiln: {} kernels in {}",
                     entries.size(),
                     store.root().empty() ? "memory only" : store.root()));
  return kDone;
}

int verify_cache(const CacheOptions& options) {
  cache::Store store(store_options());
  std::int64_t checked = 0;
  const std::vector<cache::VerifyProblem> problems = store.verify(checked);
  if (options.json) {
    print(verify_document(store.root(), checked, problems));
  } else {
    for (const cache::VerifyProblem& problem : problems)
      print(fmt::format("{}: {}\n", problem.path, problem.reason));
    print(fmt::format("{} kernels read, {} bad\n", checked, problems.size()));
  }
  if (!problems.empty()) {
    remark(
        "kiln: nothing needs deleting: a bad entry is set aside and compiled anew when it is next "
        "asked for");
  }
  return problems.empty() ? kDone : kFailed;
}

}  // namespace kiln::cli
