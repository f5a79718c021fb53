// The table of fallback reasons: an id for logs and JSON, a sentence for people, and whose decision
// it was.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/fallback.hpp>

namespace kiln {

std::string_view to_string(FallbackReason reason) noexcept {
  switch (reason) {
    case FallbackReason::forced:
      return "forced";
    case FallbackReason::unsupported_arch:
      return "unsupported_arch";
    case FallbackReason::unsupported_size:
      return "unsupported_size";
    case FallbackReason::unsupported_option:
      return "unsupported_option";
    case FallbackReason::jit_disabled:
      return "jit_disabled";
    case FallbackReason::nvrtc_missing:
      return "nvrtc_missing";
    case FallbackReason::compile_failed:
      return "compile_failed";
    case FallbackReason::load_failed:
      return "load_failed";
    case FallbackReason::out_of_memory:
      return "out_of_memory";
  }
  return "unknown";
}

std::string_view sentence(FallbackReason reason) noexcept {
  switch (reason) {
    case FallbackReason::forced:
      return "The caller asked for the composed route.";
    case FallbackReason::unsupported_arch:
      return "There is no fused kernel for this architecture.";
    case FallbackReason::unsupported_size:
      return "The planner cannot serve this size yet.";
    case FallbackReason::unsupported_option:
      return "The planner cannot serve this combination of options yet.";
    case FallbackReason::jit_disabled:
      return "KILN_DISABLE_JIT is on and the kernel is not in the cache.";
    case FallbackReason::nvrtc_missing:
      return "The kernel is not in the cache and no usable NVRTC was found.";
    case FallbackReason::compile_failed:
      return "NVRTC refused the source.";
    case FallbackReason::load_failed:
      return "The driver refused the compiled kernel.";
    case FallbackReason::out_of_memory:
      return "Loading the kernel ran out of device memory.";
  }
  return "The reason is unknown.";
}

bool forced_by_environment(FallbackReason reason) noexcept {
  switch (reason) {
    case FallbackReason::forced:
    case FallbackReason::unsupported_arch:
    case FallbackReason::unsupported_size:
    case FallbackReason::unsupported_option:
      return false;
    case FallbackReason::jit_disabled:
    case FallbackReason::nvrtc_missing:
    case FallbackReason::compile_failed:
    case FallbackReason::load_failed:
    case FallbackReason::out_of_memory:
      return true;
  }
  return false;
}

}  // namespace kiln
