// `kiln list` and `kiln verify`: what is in the cache, and whether every byte of it is right.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cache/layout.hpp"
#include "cache/quarantine.hpp"
#include "cache/scan.hpp"
#include "cache/store.hpp"
#include "tools/documents.hpp"
#include "tools/exit_code.hpp"
#include "tools/keys.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::cli {
namespace {

// Moves aside what is bad in the folder itself; layers belong to others. How many were moved.
std::size_t repair(const std::string& path, const std::vector<cache::VerifyProblem>& problems) {
  const auto opened = cache::open_root(path, cache::RootKind::own);
  const auto* root = std::get_if<cache::Root>(&opened);
  if (root == nullptr) return 0;
  const std::string entries = root->path + "/v1/e/";
  std::size_t moved = 0;
  for (const cache::VerifyProblem& problem : problems) {
    if (!problem.path.starts_with(entries)) continue;
    const std::string name = problem.path.substr(entries.size());
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) continue;
    const cache::EntryName entry{name.substr(0, slash), name.substr(slash + 1)};
    cache::ReadResult result;
    const cache::Descriptor folder = cache::open_entry_folder(*root, entry.folder, result);
    if (!folder) continue;
    struct stat status {};
    if (fstatat(folder.get(), entry.file.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    std::string error;
    if (cache::move_aside(*root, folder.get(), entry.file, {status.st_dev, status.st_ino}, error)) {
      ++moved;
    } else {
      remark(fmt::format("kiln: {} stays in place: {}", problem.path, error));
    }
  }
  return moved;
}

std::string as_table(const std::vector<cache::Found>& entries, bool colour) {
  Table table({{"digest"},
               {"arch"},
               {"registers", true},
               {"spills", true},
               {"size", true},
               {"from"},
               {"toolchain"},
               {"kernel"}});
  for (const cache::Found& entry : entries) {
    const cache::EntryInfo& info = entry.info;
    table.add({info.digest.kernel_hex().substr(0, 12),
               info.arch,
               fmt::to_string(info.registers),
               fmt::to_string(info.spill_bytes),
               human_bytes(static_cast<double>(info.file_bytes)),
               std::string(entry.from_layer ? "layer" : "folder"),
               info.digest.toolchain_hex(),
               info.entry});
  }
  return table.text(colour);
}

}  // namespace

int list(const CacheOptions& options) {
  cache::Store store(store_options(Policy::from_env()));
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
  cache::Store store(store_options(Policy::from_env()));
  std::int64_t checked = 0;
  const std::vector<cache::VerifyProblem> problems = store.verify(checked);
  if (options.json) {
    print(verify_document(store.root(), checked, problems));
  } else {
    for (const cache::VerifyProblem& problem : problems)
      print(fmt::format("{}: {}\n", problem.path, problem.reason));
    print(fmt::format("{} kernels read, {} bad\n", checked, problems.size()));
  }
  if (options.repair && !problems.empty()) {
    const std::size_t moved = repair(store.root(), problems);
    remark(fmt::format("kiln: {} of {} bad kernels were set aside", moved, problems.size()));
    return moved == problems.size() ? kDone : kFailed;
  }
  if (!problems.empty()) {
    remark(
        "kiln: nothing needs deleting: a bad entry is set aside and compiled anew when it is next "
        "asked for");
  }
  return problems.empty() ? kDone : kFailed;
}

}  // namespace kiln::cli
