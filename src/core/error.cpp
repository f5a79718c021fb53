// Names of error codes, and the text of an Error.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>

#include <utility>

namespace kiln {
namespace {

std::string what_text(ErrorCode code, const std::string& detail) {
  std::string text(to_string(code));
  text += ": ";
  text += detail;
  return text;
}

}  // namespace

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_signature:
      return "invalid_signature";
    case ErrorCode::unknown_op:
      return "unknown_op";
    case ErrorCode::unknown_arch:
      return "unknown_arch";
    case ErrorCode::invalid_policy:
      return "invalid_policy";
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::invalid_recipe:
      return "invalid_recipe";
    case ErrorCode::invalid_source:
      return "invalid_source";
    case ErrorCode::driver_missing:
      return "driver_missing";
    case ErrorCode::driver_error:
      return "driver_error";
    case ErrorCode::device_missing:
      return "device_missing";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::nvrtc_missing:
      return "nvrtc_missing";
    case ErrorCode::jit_disabled:
      return "jit_disabled";
    case ErrorCode::compile_failed:
      return "compile_failed";
    case ErrorCode::load_failed:
      return "load_failed";
    case ErrorCode::forced_fallback:
      return "forced_fallback";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::io_error:
      return "io_error";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

Error::Error(ErrorCode error_code, std::string error_detail)
    : std::runtime_error(what_text(error_code, error_detail)),
      code(error_code),
      detail(std::move(error_detail)) {}

}  // namespace kiln
