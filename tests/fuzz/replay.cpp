// Replays the kept inputs of every fuzzer, so that what was found once stays found without clang.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/targets.hpp"
#include "tests/testing.hpp"

namespace kiln::fuzz {
namespace {

namespace fs = std::filesystem;

int replay(const std::string& name, void (*target)(std::span<const std::byte>)) {
  int inputs = 0;
  for (const auto& file : fs::directory_iterator(fs::path(KILN_FUZZ_CORPUS) / name)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    INFO(file.path());  // shown when the target ends the process
    target(std::as_bytes(std::span(bytes)));
    // Every input cut short, too: the cheap half of what a fuzzer would try next.
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 64)
      target(std::as_bytes(std::span(bytes).first(size)));
    ++inputs;
  }
  return inputs;
}

TEST_CASE("the kept inputs of the entry fuzzer break nothing", "[fuzz]") {
  CHECK(replay("entry", entry) > 0);
}
TEST_CASE("the kept inputs of the pack fuzzer break nothing", "[fuzz]") {
  CHECK(replay("pack", pack) > 0);
}
TEST_CASE("the kept inputs of the key fuzzer break nothing", "[fuzz]") {
  CHECK(replay("keys", keys) > 0);
}
TEST_CASE("the kept inputs of the recipe fuzzer break nothing", "[fuzz]") {
  CHECK(replay("recipe", recipe) > 0);
}
TEST_CASE("the kept inputs of the signature fuzzer break nothing", "[fuzz]") {
  CHECK(replay("signature", signature) > 0);
}
TEST_CASE("the kept inputs of the description fuzzer break nothing", "[fuzz]") {
  CHECK(replay("description", description) > 0);
}

}  // namespace
}  // namespace kiln::fuzz
