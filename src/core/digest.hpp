// The identity of a kernel: SHA-256 over everything that reaches the compiler, and the compiler
// itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kiln/arch.hpp>

#include "src/core/closure.hpp"

namespace kiln {

using Sha256 = std::array<std::uint8_t, 32>;

[[nodiscard]] Sha256 sha256(std::span<const std::byte> bytes);
[[nodiscard]] Sha256 sha256(std::string_view text);
[[nodiscard]] std::string hex(std::span<const std::uint8_t> bytes);

// Normalised NVRTC options of a kernel, without the architecture and the random seed, in the order
// they are passed.
struct CompileOptions {
  std::vector<std::string> flags;

  // C++20, pinned floating point, hermetic: facts in docs/caching.md.
  [[nodiscard]] static CompileOptions standard();
  bool operator==(const CompileOptions&) const = default;
};

// An NVRTC, identified without loading it.
struct Toolchain {
  int major = 0;
  int minor = 0;
  std::string nvrtc_id;     // hex build-id of libnvrtc, or "sha256:<hex>" of the file
  std::string builtins_id;  // likewise of libnvrtc-builtins

  [[nodiscard]] std::string text() const;  // "nvrtc 13.0 <id> <id>"
  auto operator<=>(const Toolchain&) const = default;
};

// A labelled field of the key, kept with the entry so that `why` can say which one differs.
struct KeyField {
  std::string label;
  std::string value;

  bool operator==(const KeyField&) const = default;
};

// Everything the digest covers, in order. `kernel` fields exclude the toolchain.
struct Key {
  std::vector<KeyField> fields;
  std::vector<KeyField> toolchain;  // empty: any toolchain

  bool operator==(const Key&) const = default;
};

// Two parts: everything but the toolchain, and the toolchain (zero: any).
struct Digest {
  Sha256 kernel{};
  Sha256 toolchain{};

  [[nodiscard]] std::string kernel_hex() const;     // 64 digits
  [[nodiscard]] std::string toolchain_hex() const;  // the first 16 digits: file names carry these
  auto operator<=>(const Digest&) const = default;
};

inline constexpr std::string_view kProgramName =
    "kiln.cu";  // constant: a name would reach the cubin

// Schema, family, emitter version, source, entry, program name, headers as (name, SHA-256),
// options, arch, output kind.
[[nodiscard]] Key make_key(std::string_view family,
                           int emitter_version,
                           const Closure& closure,
                           const CompileOptions& options,
                           const Arch& arch);
// With the toolchain's fields added.
[[nodiscard]] Key with_toolchain(Key key, const Toolchain& toolchain);

// Length-prefixed and labelled, so that no two keys serialise alike.
[[nodiscard]] std::string serialize(std::span<const KeyField> fields);
// Throws Error{internal} on malformed bytes.
[[nodiscard]] std::vector<KeyField> deserialize_fields(std::string_view bytes);
[[nodiscard]] Digest digest(const Key& key);

}  // namespace kiln
