// Which error ends in which exit code.
// SPDX-License-Identifier: Apache-2.0
#include "tools/exit_code.hpp"

namespace kiln::cli {

int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_signature:
    case ErrorCode::unknown_op:
    case ErrorCode::unknown_arch:
    case ErrorCode::invalid_policy:
      return kUsage;
    case ErrorCode::driver_missing:
    case ErrorCode::device_missing:
      return kNoDevice;
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_recipe:
    case ErrorCode::invalid_source:
    case ErrorCode::driver_error:
    case ErrorCode::out_of_memory:
    case ErrorCode::nvrtc_missing:
    case ErrorCode::jit_disabled:
    case ErrorCode::compile_failed:
    case ErrorCode::load_failed:
    case ErrorCode::forced_fallback:
    case ErrorCode::unavailable:
    case ErrorCode::io_error:
    case ErrorCode::internal:
      return kFailed;
  }
  return kFailed;
}

}  // namespace kiln::cli
