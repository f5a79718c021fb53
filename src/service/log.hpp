// Log messages filtered by the policy's level, and warnings that are given once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include <kiln/policy.hpp>
#include <kiln/service.hpp>

namespace kiln {

// The sink when the caller gives none: spdlog, to stderr, never to stdout.
[[nodiscard]] Log stderr_log(LogLevel level);

class Logger {
 public:
  Logger(Log sink, LogLevel level);

  void write(LogLevel level, std::string_view message) const;
  // The first message of a cause is written, later ones are dropped.
  void write_once(LogLevel level, std::string_view cause, std::string_view message);
  [[nodiscard]] bool enabled(LogLevel level) const noexcept;

 private:
  Log sink_;
  LogLevel level_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> given_;
};

}  // namespace kiln
