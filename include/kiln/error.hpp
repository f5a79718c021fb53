// The one exception type: a broken environment, a bad request, a failed compile or launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)  // the names a shared library exports

namespace [[gnu::visibility("default")]] kiln {

// A code exists only where somebody branches on it.
enum class ErrorCode {
  invalid_signature,  // unknown key, value out of range, malformed text or JSON
  unknown_op,         // no family serves this op
  unknown_arch,       // not an architecture kiln plans for
  invalid_policy,     // a malformed environment variable or option
  invalid_argument,   // a bad tensor: null, misaligned, overlapping, wrong type, shape or stride
  invalid_recipe,     // a recipe that cannot be read or parsed
  invalid_source,     // an include that is not embedded, a macro that would break reproducibility
  driver_missing,     // libcuda cannot be loaded
  driver_error,       // a driver call failed
  device_missing,     // no such device
  out_of_memory,      // host or device memory
  nvrtc_missing,      // no NVRTC can be loaded
  jit_disabled,       // KILN_DISABLE_JIT=1 and nothing cached
  compile_failed,     // NVRTC refused the source
  load_failed,        // the driver refused the cubin
  forced_fallback,    // KILN_STRICT=1 and the environment forces a fallback
  unavailable,        // neither a fused nor a composed kernel can serve this request
  io_error,           // the file system refused
  internal,           // a broken promise inside kiln
};

// A stable name for logs and JSON, such as "invalid_signature".
[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

// what() is "<code name>: <detail>"; detail says what failed, with which input, and what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode error_code, std::string error_detail);

  ErrorCode code;
  std::string detail;
};

}  // namespace kiln

#pragma GCC visibility pop
