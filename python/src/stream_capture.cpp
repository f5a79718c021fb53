// Resolving the driver's capture functions; libcuda may be absent.
// SPDX-License-Identifier: Apache-2.0
#include "python/src/stream_capture.hpp"

#include <cuda.h>

#include <kiln/error.hpp>

namespace kiln::python {
namespace {

// The ABI asked for, whatever the headers are; both functions are older.
constexpr int kDriverAbi = 12080;

using GetProcAddress =
    CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

template <class Function>
void resolve(GetProcAddress get, const char* name, Function& function) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (get(name, &address, kDriverAbi, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found) == CUDA_SUCCESS) {
    function = reinterpret_cast<Function>(address);
  }
}

}  // namespace

StreamCapture::StreamCapture() {
  try {
    library_ = DynamicLibrary("libcuda.so.1");
  } catch (const Error&) {
    return;  // no driver: nothing is ever captured
  }
  const auto get = reinterpret_cast<GetProcAddress>(library_.symbol("cuGetProcAddress_v2"));
  if (get == nullptr) return;
  resolve(get, "cuStreamIsCapturing", is_capturing_);
  resolve(get, "cuThreadExchangeStreamCaptureMode", exchange_mode_);
}

bool StreamCapture::active(CUstream_st* stream) const noexcept {
  int status = CU_STREAM_CAPTURE_STATUS_NONE;
  return is_capturing_ != nullptr && is_capturing_(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

const StreamCapture& stream_capture() {
  static const StreamCapture kLoaded;
  return kLoaded;
}

RelaxedCapture::RelaxedCapture() noexcept {
  const StreamCapture& driver = stream_capture();
  int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (driver.exchange_mode_ != nullptr && driver.exchange_mode_(&mode) == CUDA_SUCCESS) {
    former_ = mode;
  }
}

RelaxedCapture::~RelaxedCapture() {
  if (former_) static_cast<void>(stream_capture().exchange_mode_(&*former_));
}

}  // namespace kiln::python
