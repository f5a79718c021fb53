// The only reader of the environment in kiln.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>
#include <kiln/policy.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "src/core/diagnostics.hpp"

namespace kiln {
namespace {

constexpr int kMostStages = 8;

// Read by NVRTC while it compiles (getenv traced under NVRTC 13.0). NV_NVVM_VERSION selects another
// code generator and changes the cubin, and even an empty value fails the compile; the others are
// for flags, the front end, IR checks and debugging, and changed nothing in 13.0, but other
// versions may differ. Those that only switch locking or precompiled headers are left out: the
// bytes stay the same.
constexpr std::array<std::string_view, 10> kNvrtcOverrides = {
    "NVRTC_PREPEND_FLAGS",
    "NVRTC_APPEND_FLAGS",
    "NV_NVVM_VERSION",
    "NVVM_IR_VER_CHK",
    "NVRTCWIZ",
    "LLVM_OVERRIDE_PRODUCER",
    "EDG_BASE",
    "EDG_MODULES_PATH",
    "CAN_FINALIZE_DEBUG",
    "DUMP_KNOBS_TO_FILE",
};

constexpr std::array<std::string_view, 6> kLevelNames = {
    "trace", "debug", "info", "warn", "error", "off"};

class Reader {
 public:
  explicit Reader(const Policy::Getenv& get) : get_(get) {}

  // An empty variable is an unset one.
  [[nodiscard]] std::string text(std::string_view name) const { return get_(name).value_or(""); }

  [[nodiscard]] bool flag(std::string_view name) const {
    const std::string value = text(name);
    for (const std::string_view off : {"", "0", "false", "off", "no"}) {
      if (value == off) return false;
    }
    for (const std::string_view on : {"1", "true", "on", "yes"}) {
      if (value == on) return true;
    }
    refuse(name, value, "0, false, off, no, 1, true, on or yes");
  }

  [[nodiscard]] std::optional<int> integer(std::string_view name, int least, int most) const {
    const std::string value = text(name);
    if (value.empty()) return std::nullopt;
    int number = 0;
    const char* end = value.data() + value.size();
    const auto [stop, failure] = std::from_chars(value.data(), end, number);
    if (failure != std::errc() || stop != end || number < least || number > most) {
      refuse(name, value, fmt::format("an integer from {} to {}", least, most));
    }
    return number;
  }

  [[nodiscard]] LogLevel level(std::string_view name, LogLevel fallback) const {
    const std::string value = text(name);
    if (value.empty()) return fallback;
    for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
      if (value == kLevelNames[i]) return static_cast<LogLevel>(i);
    }
    refuse(name, value, listed(kLevelNames) + did_you_mean(value, kLevelNames));
  }

  // A path must not depend on the working folder: two processes of one job would see two caches.
  [[nodiscard]] std::string absolute_path(std::string_view name) const {
    return absolute(name, text(name));
  }

  // Bytes, or bytes with k, M, G or T (powers of 1024).
  [[nodiscard]] std::int64_t bytes(std::string_view name, std::int64_t fallback) const {
    const std::string value = text(name);
    if (value.empty()) return fallback;
    constexpr std::string_view kExpected = "a number of bytes, such as 2147483648, 512M or 2G";
    std::int64_t number = 0;
    const char* end = value.data() + value.size();
    const auto [stop, failure] = std::from_chars(value.data(), end, number);
    if (failure != std::errc() || number < 0) refuse(name, value, kExpected);
    const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    if (unit.empty()) return number;
    const std::size_t power = std::string_view("kMGT").find(unit);
    if (unit.size() != 1 || power == std::string_view::npos) refuse(name, value, kExpected);
    const auto shift = static_cast<unsigned>(10 * (power + 1));
    if (number > (INT64_MAX >> shift)) refuse(name, value, kExpected);
    return number << shift;
  }

  [[nodiscard]] std::vector<std::string> layers(std::string_view name) const {
    std::vector<std::string> paths;
    const std::string value = text(name);
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(':', begin), value.size());
      // "$MORE:/baked" with MORE unset leaves an empty piece: nobody means the working folder by
      // it.
      if (end > begin) paths.push_back(layer(name, value.substr(begin, end - begin)));
      begin = end + 1;
    }
    return paths;
  }

  // A variable of another product: what cannot be used is as good as unset (the XDG specification
  // says so too).
  [[nodiscard]] std::string absolute_or_empty(std::string_view name) const {
    const std::string value = text(name);
    return value.starts_with('/') ? without_trailing_slashes(value) : std::string();
  }

  [[nodiscard]] bool is_set(std::string_view name) const { return get_(name).has_value(); }

 private:
  [[noreturn]] static void refuse(std::string_view name,
                                  std::string_view value,
                                  std::string_view expected) {
    throw Error{
        ErrorCode::invalid_policy,
        fmt::format(
            "{}={} is not valid; set it to {}, or unset it", name, quote(value, 200), expected)};
  }

  // "path" or "path?sign=..."; the store reads the option, which only has to be a known one here.
  static std::string layer(std::string_view name, const std::string& piece) {
    const std::size_t mark = piece.rfind("?sign=");
    const std::string path = absolute(name, piece.substr(0, mark));
    if (mark == std::string::npos) return path;
    const std::string option = piece.substr(mark);
    if (option == "?sign=off") return path;
    if (option == "?sign=warn" || option == "?sign=require") return path + option;
    refuse(name, piece, "paths, each followed by ?sign=off, ?sign=warn, ?sign=require or nothing");
  }

  static std::string without_trailing_slashes(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
  }

  static std::string absolute(std::string_view name, std::string path) {
    if (!path.empty() && !path.starts_with('/')) {
      refuse(name, path, "absolute paths (they begin with '/'; '~' is not expanded here)");
    }
    return without_trailing_slashes(std::move(path));
  }

  const Policy::Getenv& get_;
};

std::string join(const std::string& folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

// KILN_CACHE_DIR, else $XDG_CACHE_HOME/kiln, else $HOME/.cache/kiln, else the same under the passwd
// entry's home.
std::string choose_cache_dir(const Reader& read, const std::optional<std::string>& passwd_home) {
  const std::string chosen = read.absolute_path("KILN_CACHE_DIR");
  if (!chosen.empty()) return chosen;
  const std::string xdg = read.absolute_or_empty("XDG_CACHE_HOME");
  if (!xdg.empty()) return join(xdg, "kiln");
  const std::string home = read.absolute_or_empty("HOME");
  if (!home.empty()) return join(home, ".cache/kiln");
  const bool has_home = passwd_home && passwd_home->starts_with('/');
  return has_home ? join(*passwd_home, ".cache/kiln") : std::string();
}

std::optional<std::string> home_of_user() {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0) return std::nullopt;
  if (found == nullptr || found->pw_dir == nullptr) return std::nullopt;
  return std::string(found->pw_dir);
}

std::optional<std::string> process_variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace

Policy Policy::from(const Getenv& get, const std::optional<std::string>& passwd_home) {
  const Reader read(get);
  Policy policy;
  policy.cache_dir = choose_cache_dir(read, passwd_home);
  if (policy.cache_dir.empty()) {
    policy.cache_dir_reason =
        "no cache folder: KILN_CACHE_DIR, XDG_CACHE_HOME and HOME are unset and the user has no "
        "home folder; set "
        "KILN_CACHE_DIR to keep compiled kernels";
  }
  policy.cache_layers = read.layers("KILN_CACHE_LAYERS");
  policy.cache_max_bytes = read.bytes("KILN_CACHE_MAX_BYTES", policy.cache_max_bytes);
  policy.trusted_keys = read.absolute_path("KILN_TRUSTED_KEYS");
  const std::string runtime = read.absolute_or_empty("XDG_RUNTIME_DIR");
  if (!runtime.empty()) policy.lock_dir = join(runtime, "kiln");
  policy.allow_multi_stages = read.flag("KILN_ALLOW_MULTI_STAGES");
  policy.max_stages = read.integer("KILN_MAX_STAGES", 1, kMostStages);
  policy.disable_jit = read.flag("KILN_DISABLE_JIT");
  policy.strict = read.flag("KILN_STRICT");
  policy.check_offsets = read.flag("KILN_CHECK_OFFSETS");
  policy.tuning_file = read.absolute_path("KILN_TUNING");
  policy.nvrtc = read.absolute_path("KILN_NVRTC");
  policy.cuda_home = read.absolute_or_empty("CUDA_HOME");
  if (policy.cuda_home.empty()) policy.cuda_home = read.absolute_or_empty("CUDA_PATH");
  policy.log_level = read.level("KILN_LOG", LogLevel::warn);
  for (const std::string_view name : kNvrtcOverrides) {
    if (read.is_set(name)) policy.nvrtc_overrides.emplace_back(name);
  }
  return policy;
}

Policy Policy::from_env() {
  Policy policy = from(process_variable, std::nullopt);
  // Only now: the entry may be asked of a server, and a start is to take milliseconds.
  if (policy.cache_dir.empty()) policy = from(process_variable, home_of_user());
  return policy;
}

}  // namespace kiln
