// Warnings that are given once a cause, however often the cause comes back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "cache/store.hpp"

namespace kiln::cache {

class Warnings {
 public:
  explicit Warnings(Log log) : log_(std::move(log)) {}

  // The first of a cause is a warning, later ones are for debugging. Never throws, whatever the
  // callback does.
  void give(const std::string& cause, const std::string& text) noexcept;

 private:
  Log log_;
  std::mutex mutex_;
  std::set<std::string> given_;
};

}  // namespace kiln::cache
