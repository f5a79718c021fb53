// The default sink, and the level filter in front of every sink.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/log.hpp"

#include <memory>
#include <utility>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace kiln {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

}  // namespace

Log stderr_log(LogLevel level) {
  // A logger of our own: the default one writes to stdout, and the registry is global state.
  auto logger =
      std::make_shared<spdlog::logger>("kiln", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(spdlog_level(level));
  logger->set_pattern("%n: %l: %v");
  return [logger](LogLevel message_level, std::string_view message) {
    logger->log(spdlog_level(message_level), spdlog::string_view_t(message.data(), message.size()));
  };
}

Logger::Logger(Log sink, LogLevel level)
    : sink_(sink ? std::move(sink) : stderr_log(level)), level_(level) {}

bool Logger::enabled(LogLevel level) const noexcept {
  return level != LogLevel::off && level >= level_;
}

void Logger::write(LogLevel level, std::string_view message) const {
  if (enabled(level)) sink_(level, message);
}

void Logger::write_once(LogLevel level, std::string_view cause, std::string_view message) {
  {
    const std::lock_guard lock(mutex_);
    if (!given_.emplace(cause).second) return;
  }
  write(level, message);
}

}  // namespace kiln
