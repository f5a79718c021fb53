// Why a composed kernel runs where a fused one was asked for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)  // the names a shared library exports

namespace [[gnu::visibility("default")]] kiln {

// Numbers and names are stable: they are in logs and JSON, and are never reused.
enum class FallbackReason {
  forced = 1,            // the caller asked for the composed route
  unsupported_arch = 2,  // no fused kernel for this architecture
  unsupported_size = 3,  // the planner cannot serve this size yet
  unsupported_option = 4,
  jit_disabled = 5,   // KILN_DISABLE_JIT=1 and the kernel is not cached
  nvrtc_missing = 6,  // not cached and there is no NVRTC
  compile_failed = 7,
  load_failed = 8,    // the driver refused the cubin
  out_of_memory = 9,  // loading ran out of device memory
};

// The id used in logs and JSON ("jit_disabled"), and one sentence for people.
[[nodiscard]] std::string_view to_string(FallbackReason reason) noexcept;
[[nodiscard]] std::string_view sentence(FallbackReason reason) noexcept;
// True when the environment, not the planner or the caller, forces the fallback: KILN_STRICT=1 then
// throws.
[[nodiscard]] bool forced_by_environment(FallbackReason reason) noexcept;

struct Fallback {
  FallbackReason reason = FallbackReason::forced;
  std::string detail;

  bool operator==(const Fallback&) const = default;
};

// A planner's refusal is a value, not a failure.
struct Rejection {
  FallbackReason reason = FallbackReason::unsupported_size;
  std::string detail;

  bool operator==(const Rejection&) const = default;
};

}  // namespace kiln

#pragma GCC visibility pop
