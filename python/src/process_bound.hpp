// Owners that a forked child leaves alone: CUDA and locks do not survive a fork.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

namespace kiln::python {

// Destroys its value in the process that made it, and leaks it in every other one.
template <class Value>
class ProcessBound {
 public:
  template <class... Arguments>
  explicit ProcessBound(std::in_place_t, Arguments&&... arguments)
      : value_(std::make_unique<Value>(std::forward<Arguments>(arguments)...)) {}
  ProcessBound(ProcessBound&&) noexcept = default;
  ProcessBound& operator=(ProcessBound&&) = delete;
  ~ProcessBound() {
    if (getpid() != owner_) static_cast<void>(value_.release());
  }

  [[nodiscard]] Value& operator*() const noexcept { return *value_; }
  [[nodiscard]] Value* operator->() const noexcept { return value_.get(); }

 private:
  std::unique_ptr<Value> value_;
  pid_t owner_ = getpid();
};

}  // namespace kiln::python
