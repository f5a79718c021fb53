// What the user of a process decided: caching, compiling, stages. Never part of a digest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)  // the names a shared library exports

namespace [[gnu::visibility("default")]] kiln {

enum class LogLevel { trace, debug, info, warn, error, off };

struct Policy {
  std::string cache_dir;  // KILN_CACHE_DIR; empty: memory only, and cache_dir_reason says why
  std::string cache_dir_reason;  // why cache_dir is empty; empty otherwise
  // KILN_CACHE_LAYERS, colon separated: read-only folders, and packs (files that end in .kpack),
  // each "path" or "path?sign=warn" or "path?sign=require".
  std::vector<std::string> cache_layers;
  std::int64_t cache_max_bytes = std::int64_t{2} << 30U;  // KILN_CACHE_MAX_BYTES; 0: no bound
  std::string trusted_keys;         // KILN_TRUSTED_KEYS: a folder of public keys; empty: none
  std::string lock_dir;             // $XDG_RUNTIME_DIR/kiln; empty: the store chooses
  bool allow_multi_stages = false;  // KILN_ALLOW_MULTI_STAGES; mix-order reductions
  std::optional<int> max_stages;    // KILN_MAX_STAGES, 1 to 8; only lowers; mix-order reductions
  bool disable_jit = false;         // KILN_DISABLE_JIT
  bool strict = false;              // KILN_STRICT
  bool check_offsets = false;  // KILN_CHECK_OFFSETS: the Python package checks offs on the device
  std::string tuning_file;     // KILN_TUNING: what `kiln tune` stored; empty: the planner chooses
  std::string candidate;       // forces one of Service::candidates, for every signature planned
  std::string nvrtc;           // KILN_NVRTC: the file libnvrtc.so.<n> or its folder; empty: search
  std::string cuda_home;       // CUDA_HOME, else CUDA_PATH: where a toolkit may be
  LogLevel log_level = LogLevel::warn;  // KILN_LOG

  // Variables that NVRTC itself reads and that change its output; when one is set, compiles are not
  // cached.
  std::vector<std::string> nvrtc_overrides;

  using Getenv = std::function<std::optional<std::string>(std::string_view)>;

  // The only reader of the environment in kiln. Unset, empty, 0, false, off, no are off; 1, true,
  // on, yes are on. Anything else, a malformed number, or a path of kiln's own variables that is
  // not absolute (it would depend on the working folder) throws Error{invalid_policy} naming the
  // variable. Relative HOME, XDG_CACHE_HOME, CUDA_HOME and CUDA_PATH count as unset.
  [[nodiscard]] static Policy from_env();
  // The same with the environment given as a function, and the home folder of the passwd entry as a
  // value.
  [[nodiscard]] static Policy from(const Getenv& get,
                                   const std::optional<std::string>& passwd_home);
};

}  // namespace kiln

#pragma GCC visibility pop
