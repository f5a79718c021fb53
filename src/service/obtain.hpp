// Cubins: found in the store, or compiled and published, with nobody compiling what another is
// compiling.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kiln/plan.hpp>

#include "src/core/closure.hpp"
#include "src/core/cubin.hpp"
#include "src/core/digest.hpp"
#include "src/service/backends.hpp"
#include "src/service/log.hpp"
#include "src/service/toolchains.hpp"

namespace kiln {

// One kernel: what identifies it, and what it takes to compile it.
struct KernelRequest {
  std::string op;
  std::string signature;
  Closure closure;
  CompileOptions options;
  Arch arch;
  Key key{};                                  // without the toolchain
  std::optional<ToolchainFiles> toolchain{};  // nothing: this process does not compile
  std::string no_toolchain_reason{};
  std::string driver{};  // its version; empty: no device
  bool recalls = false;  // what failed minutes ago is not tried again: not when warming, nor strict

  // Of the key with the toolchain, if there is one.
  [[nodiscard]] Digest digest() const;
};

struct Obtained {
  Cubin cubin;
  Origin origin = Origin::none;
  double compile_ms = 0;
  std::vector<Cubin> others{};  // of other toolchains, newest first, where nothing can be compiled
};

struct Counts {
  std::atomic<std::uint64_t> memory_hits{0}, cache_hits{0}, layer_hits{0}, compiles{0},
      fallbacks{0};
};

class Cubins {
 public:
  Cubins(const Options& options,
         const Backends& backends,
         Logger& log,
         Toolchains& toolchains,
         Counts& counts);

  // Throws Error{jit_disabled}, {nvrtc_missing}, {compile_failed}, {out_of_memory}, and
  // {load_failed} for what the driver refused minutes ago.
  [[nodiscard]] Obtained obtain(const KernelRequest& request);

  // For a caller whom the driver refused a cubin of the store: that entry is quarantined, and a
  // fresh cubin returned, not published until it has proved itself (keep).
  [[nodiscard]] Obtained replace(const KernelRequest& request, std::string_view why);
  void keep(const KernelRequest& request, const Cubin& cubin);
  // The driver refused a cubin made just now: remembered for a while.
  void remember_refusal(const KernelRequest& request, std::string_view why);
  void count_refusal(const KernelRequest& request, std::string_view why);
  void count_fallback(std::string_view why);

 private:
  [[nodiscard]] Obtained hit(cache::Found found);
  [[nodiscard]] Obtained obtain_of_any_toolchain(const KernelRequest& request, ErrorCode missing);
  [[nodiscard]] Obtained compile(const KernelRequest& request);
  // Throw what was remembered of this kernel.
  void recall_failure(const KernelRequest& request);
  void recall_refusal(const KernelRequest& request);
  // Why what this process compiles must be neither looked up nor published; empty: it may be.
  [[nodiscard]] std::string overridden() const;

  const Options& options_;
  const Backends& backends_;
  Logger& log_;
  Toolchains& toolchains_;
  Counts& counts_;
  std::unique_ptr<cache::Store> store_;
};

}  // namespace kiln
