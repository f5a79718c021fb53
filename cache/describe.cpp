// What is told about an entry, out of its key and metadata.
// SPDX-License-Identifier: Apache-2.0
#include "cache/describe.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <tuple>

namespace kiln::cache {
namespace {

std::string value_of(std::span<const KeyField> fields, std::string_view label) {
  const auto found = std::ranges::find(fields, label, &KeyField::label);
  return found == fields.end() ? std::string() : found->value;
}

int number(std::string_view text) {
  int value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

EntryInfo describe(const Entry& entry, std::int64_t file_bytes) {
  return describe(entry, digest(entry.key), file_bytes);
}

EntryInfo describe(const Entry& entry, const Digest& digest, std::int64_t file_bytes) {
  EntryInfo info;
  info.digest = digest;
  info.family = value_of(entry.key.fields, "family");
  info.op = entry.op;
  info.arch = value_of(entry.key.fields, "arch");
  info.toolchain = toolchain_of(entry.key).text();
  info.entry = entry.cubin.entry;
  info.registers = entry.cubin.registers;
  info.spill_bytes = entry.cubin.spill_bytes;
  info.cubin_bytes = static_cast<std::int64_t>(entry.cubin.image.size());
  info.file_bytes = file_bytes;
  return info;
}

Toolchain toolchain_of(const Key& key) {
  const std::string version = value_of(key.toolchain, "nvrtc");
  const std::string_view text = version;
  const std::size_t dot = std::min(text.find('.'), text.size());
  Toolchain toolchain;
  toolchain.major = number(text.substr(0, dot));
  toolchain.minor = dot < text.size() ? number(text.substr(dot + 1)) : 0;
  toolchain.nvrtc_id = value_of(key.toolchain, "nvrtc_id");
  toolchain.builtins_id = value_of(key.toolchain, "builtins_id");
  return toolchain;
}

bool is_newer(const Toolchain& a, const Toolchain& b) noexcept {
  return std::tie(a.major, a.minor) > std::tie(b.major, b.minor);
}

}  // namespace kiln::cache
