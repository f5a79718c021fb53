// From plans to keys, and from the environment to a store.
// SPDX-License-Identifier: Apache-2.0
#include "tools/keys.hpp"

#include <utility>

#include <fmt/format.h>

#include "kernels/family.hpp"
#include "src/core/closure.hpp"
#include "src/cuda/toolchain.hpp"
#include "tools/environment.hpp"
#include "tools/terminal.hpp"

namespace kiln::cli {

cache::StoreOptions store_options(const Policy& policy) {
  if (policy.cache_dir.empty())
    remark(fmt::format("kiln: there is no cache folder: {}", policy.cache_dir_reason));
  cache::StoreOptions options;
  options.root = policy.cache_dir;
  options.layers = policy.cache_layers;
  options.max_bytes = policy.cache_max_bytes;
  options.trusted_keys = policy.trusted_keys;
  options.lock_dir = policy.lock_dir;
  options.log = [](LogLevel level, std::string_view message) {
    if (level >= LogLevel::warn) remark(fmt::format("kiln: warning: {}", message));
  };
  return options;
}

std::optional<Toolchain> current_toolchain(const Policy& policy) {
  if (policy.disable_jit) return std::nullopt;
  const ToolchainSearch search = find_toolchain(policy, wheel_folders(), std::nullopt);
  if (!search.found) return std::nullopt;
  return search.found->id;
}

std::vector<Key> keys_of(const Plan& plan, const std::optional<Toolchain>& toolchain) {
  std::vector<Key> keys;
  const Family& family = find_family(plan.signature.op);
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    if (plan.stages[stage].origin == Origin::embedded) continue;
    const Closure closure = close_includes(family.emit(plan, stage), embedded_files());
    Key key = make_key(
        family.name, family.emitter_version, closure, CompileOptions::standard(), plan.arch);
    keys.push_back(toolchain ? with_toolchain(std::move(key), *toolchain) : std::move(key));
  }
  return keys;
}

std::optional<cache::Found> find_entry(cache::Store& store, const Key& key) {
  if (!key.toolchain.empty()) return store.find(key);
  std::vector<cache::Found> all = store.find_any_toolchain(key);
  if (all.empty()) return std::nullopt;
  return std::move(all.front());
}

}  // namespace kiln::cli
