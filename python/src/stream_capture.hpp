// What CUDA graphs ask of whoever launches while a stream is captured.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "src/cuda/dynamic_library.hpp"

struct CUstream_st;

namespace kiln::python {

// The driver's functions on stream capture; none where there is no driver.
class StreamCapture {
 public:
  StreamCapture();

  // False when the driver cannot tell, such as for the legacy stream while another one is captured:
  // the launch itself then says what is wrong.
  [[nodiscard]] bool active(CUstream_st* stream) const noexcept;

 private:
  friend class RelaxedCapture;

  DynamicLibrary library_;
  int (*is_capturing_)(CUstream_st*, int*) = nullptr;
  int (*exchange_mode_)(int*) = nullptr;
};

// Loaded at the first call, and constant from then on.
[[nodiscard]] const StreamCapture& stream_capture();

// Lets this thread load and allocate while a stream is captured in a stricter mode: neither is
// recorded, and forbidding them would end the capture.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept;
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  RelaxedCapture(RelaxedCapture&&) = delete;
  RelaxedCapture& operator=(RelaxedCapture&&) = delete;
  ~RelaxedCapture();

 private:
  std::optional<int> former_;
};

}  // namespace kiln::python
