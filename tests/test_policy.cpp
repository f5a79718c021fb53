// Policy: what each variable does, and that a malformed one is an error that names it.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>
#include <kiln/policy.hpp>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "tests/testing.hpp"

using namespace kiln;
using kiln::testing::contains;

namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Policy policy(const Variables& variables, std::optional<std::string> home = std::nullopt) {
  return Policy::from(
      [&](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
      },
      home);
}

std::string refusal(const std::string& name, const std::string& value) {
  try {
    (void)policy({{name, value}});
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::invalid_policy);
    return error.detail;
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("an empty environment gives the defaults") {
  const Policy defaults = policy({});
  CHECK(defaults.cache_dir.empty());
  CHECK_THAT(defaults.cache_dir_reason, contains("KILN_CACHE_DIR"));
  CHECK(defaults.cache_layers.empty());
  CHECK_FALSE(defaults.allow_multi_stages);
  CHECK_FALSE(defaults.max_stages.has_value());
  CHECK_FALSE(defaults.disable_jit);
  CHECK_FALSE(defaults.strict);
  CHECK_FALSE(defaults.check_offsets);
  CHECK(defaults.nvrtc.empty());
  CHECK(defaults.cuda_home.empty());
  CHECK(defaults.log_level == LogLevel::warn);
  CHECK(defaults.nvrtc_overrides.empty());
}

TEST_CASE("booleans are on or off in the documented words and nothing else") {
  const auto set = [](const std::string& name, const std::string& value) {
    const Policy read = policy({{name, value}});
    return name == "KILN_ALLOW_MULTI_STAGES" ? read.allow_multi_stages
           : name == "KILN_CHECK_OFFSETS"    ? read.check_offsets
           : name == "KILN_DISABLE_JIT"      ? read.disable_jit
                                             : read.strict;
  };
  for (const std::string name :
       {"KILN_ALLOW_MULTI_STAGES", "KILN_CHECK_OFFSETS", "KILN_DISABLE_JIT", "KILN_STRICT"}) {
    for (const char* off : {"", "0", "false", "off", "no"}) CHECK_FALSE(set(name, off));
    for (const char* on : {"1", "true", "on", "yes"}) CHECK(set(name, on));
    for (const char* bad : {"2", "TRUE", "maybe", " 1", "1 ", "00"}) {
      INFO(name << "=" << bad);
      CHECK_THAT(refusal(name, bad), contains(name + "=\"" + bad + "\""));
    }
  }
}

TEST_CASE("the stage limit is an integer from 1 to 8") {
  CHECK(policy({{"KILN_MAX_STAGES", "1"}}).max_stages == 1);
  CHECK(policy({{"KILN_MAX_STAGES", "8"}}).max_stages == 8);
  CHECK_FALSE(policy({{"KILN_MAX_STAGES", ""}}).max_stages.has_value());
  for (const char* bad : {"0", "9", "-1", "two", "2.0", "2 ", "99999999999999999999"}) {
    INFO(bad);
    CHECK_THAT(refusal("KILN_MAX_STAGES", bad), contains("KILN_MAX_STAGES"));
    CHECK_THAT(refusal("KILN_MAX_STAGES", bad), contains("from 1 to 8"));
  }
}

TEST_CASE("log levels are read by name, with a suggestion") {
  CHECK(policy({{"KILN_LOG", "trace"}}).log_level == LogLevel::trace);
  CHECK(policy({{"KILN_LOG", "debug"}}).log_level == LogLevel::debug);
  CHECK(policy({{"KILN_LOG", "info"}}).log_level == LogLevel::info);
  CHECK(policy({{"KILN_LOG", "warn"}}).log_level == LogLevel::warn);
  CHECK(policy({{"KILN_LOG", "error"}}).log_level == LogLevel::error);
  CHECK(policy({{"KILN_LOG", "off"}}).log_level == LogLevel::off);
  CHECK_THAT(refusal("KILN_LOG", "debgu"), contains("did you mean \"debug\""));
  CHECK_THAT(refusal("KILN_LOG", "5"), contains("KILN_LOG"));
}

TEST_CASE("the cache folder is the first of the documented places") {
  const Variables all = {{"KILN_CACHE_DIR", "/k"}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}};
  CHECK(policy(all, "/p").cache_dir == "/k");
  CHECK(policy({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}, "/p").cache_dir == "/x/kiln");
  CHECK(policy({{"HOME", "/h"}}, "/p").cache_dir == "/h/.cache/kiln");
  CHECK(policy({}, "/p").cache_dir == "/p/.cache/kiln");
  CHECK(policy({{"HOME", "/"}}).cache_dir == "/.cache/kiln");
  CHECK(policy({{"HOME", "/h/"}}).cache_dir == "/h/.cache/kiln");
  CHECK(policy({{"KILN_CACHE_DIR", "/k//"}}).cache_dir == "/k");
  CHECK(policy({{"KILN_CACHE_DIR", ""}, {"HOME", "/h"}}).cache_dir == "/h/.cache/kiln");
  CHECK(policy(all).cache_dir_reason.empty());
}

TEST_CASE("nothing of the cache is ever looked for below the working folder") {
  CHECK_THAT(refusal("KILN_CACHE_DIR", "cache"), contains("KILN_CACHE_DIR=\"cache\""));
  CHECK_THAT(refusal("KILN_CACHE_DIR", "./cache"), contains("absolute"));
  CHECK_THAT(refusal("KILN_CACHE_DIR", "~/cache"), contains("absolute"));
  CHECK_THAT(refusal("KILN_CACHE_LAYERS", "/a:b"), contains("KILN_CACHE_LAYERS=\"b\""));
  CHECK_THAT(refusal("KILN_NVRTC", "libnvrtc.so.13"), contains("KILN_NVRTC"));
  // The XDG specification: a relative path is to be ignored. HOME likewise.
  CHECK(policy({{"XDG_CACHE_HOME", "x"}, {"HOME", "/h"}}).cache_dir == "/h/.cache/kiln");
  CHECK(policy({{"HOME", "h"}}, "/p").cache_dir == "/p/.cache/kiln");
  CHECK(policy({{"HOME", "h"}}, "p").cache_dir.empty());
}

TEST_CASE("a layer may say what its signature is worth") {
  using Layers = std::vector<std::string>;
  const auto layers = [](const std::string& text) {
    return policy({{"KILN_CACHE_LAYERS", text}}).cache_layers;
  };
  CHECK(layers("/a/?sign=require:/b.kpack?sign=warn:/c?sign=off") ==
        Layers{"/a?sign=require", "/b.kpack?sign=warn", "/c"});
  CHECK(layers("/what?:/is=this") == Layers{"/what?", "/is=this"});
  CHECK_THAT(refusal("KILN_CACHE_LAYERS", "/a?sign=maybe"), contains("?sign=require"));
  CHECK_THAT(refusal("KILN_CACHE_LAYERS", "a?sign=warn"), contains("absolute"));
}

TEST_CASE("a tuning file is named by an absolute path") {
  CHECK(Policy::from([](std::string_view) { return std::nullopt; }, "/h").tuning_file.empty());
  const auto given = [](const std::string& value) {
    return [value](std::string_view name) -> std::optional<std::string> {
      if (name == "KILN_TUNING") return value;
      return std::nullopt;
    };
  };
  CHECK(Policy::from(given("/etc/kiln/tuning.json"), "/h").tuning_file == "/etc/kiln/tuning.json");
  CHECK_THROWS_AS(Policy::from(given("tuning.json"), "/h"), Error);
}

TEST_CASE("the cache's bound is a number of bytes with or without a unit") {
  const auto bound = [](const std::string& text) {
    return policy({{"KILN_CACHE_MAX_BYTES", text}}).cache_max_bytes;
  };
  CHECK(policy({}).cache_max_bytes == std::int64_t{2} << 30U);
  CHECK(bound("") == std::int64_t{2} << 30U);
  CHECK(bound("0") == 0);
  CHECK(bound("12345") == 12345);
  CHECK(bound("3k") == 3072);
  CHECK(bound("512M") == std::int64_t{512} << 20U);
  CHECK(bound("4G") == std::int64_t{4} << 30U);
  for (const char* wrong : {"-1", "G", "1.5G", "2GB", "2 G", "9999999T", "99999999999999999999"})
    CHECK_THAT(refusal("KILN_CACHE_MAX_BYTES", wrong), contains("KILN_CACHE_MAX_BYTES"));
}

TEST_CASE("keys are trusted out of one folder, and locks are in the session's") {
  CHECK(policy({}).trusted_keys.empty());
  CHECK(policy({{"KILN_TRUSTED_KEYS", "/keys/"}}).trusted_keys == "/keys");
  CHECK_THAT(refusal("KILN_TRUSTED_KEYS", "keys"), contains("absolute"));
  CHECK(policy({}).lock_dir.empty());
  CHECK(policy({{"XDG_RUNTIME_DIR", "/run/user/7"}}).lock_dir == "/run/user/7/kiln");
  CHECK(policy({{"XDG_RUNTIME_DIR", "run"}}).lock_dir.empty());
}

TEST_CASE("layers are a colon-separated list, empty pieces left out") {
  using Layers = std::vector<std::string>;
  CHECK(policy({{"KILN_CACHE_LAYERS", "/a:/b/:/c d"}}).cache_layers == Layers{"/a", "/b", "/c d"});
  CHECK(policy({{"KILN_CACHE_LAYERS", ":/a::"}}).cache_layers == Layers{"/a"});
  CHECK(policy({{"KILN_CACHE_LAYERS", ""}}).cache_layers.empty());
  CHECK(policy({{"KILN_CACHE_LAYERS", ":"}}).cache_layers.empty());
}

TEST_CASE("a toolkit is named by KILN_NVRTC, CUDA_HOME or CUDA_PATH") {
  CHECK(policy({{"KILN_NVRTC", "/n/libnvrtc.so.13"}}).nvrtc == "/n/libnvrtc.so.13");
  CHECK(policy({{"CUDA_HOME", "/a"}, {"CUDA_PATH", "/b"}}).cuda_home == "/a");
  CHECK(policy({{"CUDA_PATH", "/b"}}).cuda_home == "/b");
  CHECK(policy({{"CUDA_HOME", "relative"}, {"CUDA_PATH", "/b"}}).cuda_home == "/b");
}

TEST_CASE("variables that NVRTC itself obeys are found") {
  const Policy read = policy({{"NVRTC_APPEND_FLAGS", "--use_fast_math"}, {"NV_NVVM_VERSION", ""}});
  CHECK(read.nvrtc_overrides == std::vector<std::string>{"NVRTC_APPEND_FLAGS", "NV_NVVM_VERSION"});
}

TEST_CASE("from_env reads the process's environment") {
  setenv("KILN_MAX_STAGES", "3", 1);
  CHECK(Policy::from_env().max_stages == 3);
  setenv("KILN_MAX_STAGES", "three", 1);
  CHECK_THROWS_AS(Policy::from_env(), Error);
  unsetenv("KILN_MAX_STAGES");
  CHECK_FALSE(Policy::from_env().max_stages.has_value());
}
