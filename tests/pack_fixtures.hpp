// What the tests of packs share: entries in folders, packs of them, keys, forged bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cache/pack.hpp"
#include "cache/pack_format.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache::testing {

using Bytes = std::vector<std::byte>;

inline Bytes encoded(const Key& key, std::size_t cubin_bytes = 64, std::uint32_t seed = 1) {
  return std::get<Bytes>(encode_entry({key, make_test_cubin(cubin_bytes, seed), "op"}));
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline Bytes as_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// An entry as a folder holds it; what a pack is made of.
inline PackSource put_entry(const fs::path& folder, const Key& key, std::size_t cubin_bytes = 64) {
  const fs::path file = entry_file(folder, key);
  fs::create_directories(file.parent_path());
  write_file(file, as_text(encoded(key, cubin_bytes)));
  return {digest(key), file.string()};
}

inline std::vector<PackSource> put_entries(const fs::path& folder, int count) {
  std::vector<PackSource> sources;
  for (int i = 0; i < count; ++i)
    sources.push_back(put_entry(folder, make_test_key("source " + std::to_string(i))));
  return sources;
}

inline void require_done(const std::optional<Problem>& problem) {
  INFO((problem ? problem->text : std::string()));
  REQUIRE_FALSE(problem);
}

// A pack of `count` entries of the keys "source 0", "source 1" ...
inline fs::path make_pack(const TemporaryFolder& folder,
                          int count,
                          const std::string& name = "p.kpack") {
  const fs::path path = folder / name;
  PackContents contents;
  contents.sources = put_entries(folder / "entries", count);
  contents.recipe = "models";
  contents.signatures = {"op:n=2", "op:n=1", "op:n=2"};
  contents.complete = true;
  require_done(write_pack(path.string(), contents));
  return path;
}

inline Pack open_pack(const fs::path& path, const SignatureCheck& check = {}) {
  auto opened = Pack::open(path.string(), check);
  if (const auto* problem = std::get_if<Problem>(&opened)) FAIL(problem->text);
  return std::move(std::get<Pack>(opened));
}

// The reason, or empty when the pack opens.
inline std::string refusal(const fs::path& path, const SignatureCheck& check = {}) {
  const auto opened = Pack::open(path.string(), check);
  const auto* problem = std::get_if<Problem>(&opened);
  return problem == nullptr ? std::string() : problem->text;
}

// A key pair and a folder that trusts it.
struct TestKeys {
  explicit TestKeys(const TemporaryFolder& folder, const std::string& name = "key")
      : private_key((folder / name).string()), trusted((folder / (name + "-trusted")).string()) {
    const auto made = make_key_pair(private_key);
    if (const auto* problem = std::get_if<Problem>(&made)) FAIL(problem->text);
    id = std::get<std::string>(made);
    const auto added = trust_key(private_key + ".pub", trusted);
    if (const auto* problem = std::get_if<Problem>(&added)) FAIL(problem->text);
  }
  [[nodiscard]] SignatureCheck check(SignaturePolicy policy) const { return {policy, trusted}; }

  std::string private_key;
  std::string trusted;
  std::string id;
};

}  // namespace kiln::cache::testing
