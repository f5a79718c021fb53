// One stream's launch of one signature: every call brings new arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include <kiln/arguments.hpp>
#include <kiln/service.hpp>

#include "python/src/handles.hpp"
#include "python/src/stream_capture.hpp"

namespace kiln::python {

template <class Pointer>
Pointer address(std::uintptr_t value) {
  return reinterpret_cast<Pointer>(value);
}

class BoundLaunch {
 public:
  BoundLaunch(const PyPrepared& prepared,
              const std::optional<MemoryTuple>& workspace,
              const std::optional<MemoryTuple>& counters,
              bool captured)
      : prepared_(*prepared), captured_(captured) {
    if (workspace) options_.workspace = adopted(*workspace);
    if (counters) options_.counters = adopted(*counters);
  }

  [[nodiscard]] const Signature& signature() const { return prepared_.plan().signature; }

  // False, with nothing launched, when the stream is being captured and this is not for captures,
  // or the reverse: a graph's launch must share workspace and counters with nobody. Needs no lock
  // of the interpreter.
  [[nodiscard]] bool run(std::uintptr_t stream, const Arguments& arguments) {
    auto* const handle = address<CUstream_st*>(stream);
    if (stream_capture().active(handle) != captured_) return false;
    const std::lock_guard lock(mutex_);
    if (bound_) {
      launch_.rebind(arguments);
    } else {
      const RelaxedCapture relaxed;
      launch_ = prepared_.bind(arguments, options_);
      bound_ = true;
    }
    launch_.run(handle);
    return true;
  }

 private:
  static Workspace adopted(const MemoryTuple& memory) {
    return {.data = address<void*>(memory.first), .bytes = memory.second, .owner = {}};
  }

  const Prepared prepared_;
  const bool captured_;
  BindOptions options_;
  std::mutex mutex_;
  Launch launch_;
  bool bound_ = false;
};

}  // namespace kiln::python
