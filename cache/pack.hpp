// A pack: one immutable file of entries, read in place. The grammar is in docs/caching.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cache/entry.hpp"
#include "cache/layout.hpp"
#include "cache/pack_keys.hpp"
#include "cache/store.hpp"
#include "src/core/digest.hpp"

namespace kiln::cache {

// Limits a reader enforces before it allocates: an index of 2^20 entries is 112 MiB, and 4 MiB hold
// the signatures of 40,000 kernels.
inline constexpr std::size_t kMaxPackEntries = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxManifestBytes = std::size_t{4} << 20U;

// What a pack says about itself. No path, no time, no host: two packs of one recipe are the same
// bytes.
struct PackManifest {
  std::vector<std::string> toolchains;     // Toolchain::text() of the entries, sorted
  std::vector<std::string> architectures;  // of the entries, sorted
  std::string recipe;                      // the name the maker gave it, not a path; may be empty
  std::vector<std::string> signatures;     // what the recipe asks for: canonical texts, sorted
  bool complete = false;                   // nothing that the recipe asks for is missing

  bool operator==(const PackManifest&) const = default;
};

struct PackEntry {
  Digest digest;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t bytes = 0;
  Sha256 checksum{};  // of the entry's bytes, its own checksum included

  bool operator==(const PackEntry&) const = default;
};

enum class PackSignature {
  none,
  trusted,    // right, by a key of the trusted folder
  untrusted,  // by a key that is not there: nobody can say whether it is right
  wrong,      // by a trusted key, and not of these bytes
};

// An open pack. Header, index and manifest are in memory and were checked against their checksum;
// entries are read with pread when asked for and checked against the index. So a file that is cut
// or overwritten while it is open gives reasons, never SIGBUS and never other code. Immutable: any
// number of threads may read.
class Pack {
 public:
  // Any bytes at all give a pack or a problem. The signature is looked at under every policy but
  // `off`; under `require` a pack that is not signed by a trusted key is a problem, under `warn` it
  // is in `warning()`.
  [[nodiscard]] static std::variant<Pack, Problem> open(const std::string& path,
                                                        const SignatureCheck& check = {});
  // The same of an open file, whoever owns it; `path` is for the text.
  [[nodiscard]] static std::variant<Pack, Problem> open(Descriptor file,
                                                        const std::string& path,
                                                        const SignatureCheck& check = {});

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const PackManifest& manifest() const noexcept { return manifest_; }
  // As it is in the file, with the members of later versions.
  [[nodiscard]] const std::string& manifest_json() const noexcept { return manifest_json_; }
  [[nodiscard]] std::span<const PackEntry> entries() const noexcept { return entries_; }
  // Sorted by digest: both are binary searches.
  [[nodiscard]] const PackEntry* find(const Digest& digest) const noexcept;
  [[nodiscard]] std::span<const PackEntry> find_kernel(const Sha256& kernel) const noexcept;

  // The entry's bytes as the store that it was taken from held them.
  [[nodiscard]] std::variant<std::vector<std::byte>, Problem> read(const PackEntry& entry) const;
  // The same, decoded; its key gives the digest of the index. The index vouches for the bytes, so
  // that the entry's own checksum is only looked at when it is asked for.
  [[nodiscard]] std::variant<Entry, Problem> load(
      const PackEntry& entry, EntryChecksum checksum = EntryChecksum::known) const;
  // Reads every entry, and checks its own checksum, too.
  [[nodiscard]] std::vector<VerifyProblem> verify() const;

  [[nodiscard]] PackSignature signature() const noexcept { return signature_; }
  [[nodiscard]] const std::string& key_id() const noexcept { return key_id_; }  // of the signer
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }
  // SHA-256 over header, index and manifest, hence over everything; what is signed.
  [[nodiscard]] const Sha256& checksum() const noexcept { return checksum_; }
  [[nodiscard]] std::int64_t file_bytes() const noexcept { return file_bytes_; }

 private:
  Pack() = default;
  [[nodiscard]] std::variant<Entry, Problem> load_now(const PackEntry& entry,
                                                      EntryChecksum checksum) const;

  std::string path_;
  Descriptor file_;
  PackManifest manifest_;
  std::string manifest_json_;
  std::vector<PackEntry> entries_;
  PackSignature signature_ = PackSignature::none;
  std::string key_id_;
  std::string warning_;
  Sha256 checksum_{};
  std::int64_t file_bytes_ = 0;
  std::unique_ptr<Decompressor> decompressor_ = std::make_unique<Decompressor>();
};

// Where an entry's bytes are now: `path` as in Found::path, a file of a folder or a place in a
// pack.
struct PackSource {
  Digest digest;
  std::string path;
};

// "<pack>#<64 hex of the kernel>.<16 hex of the toolchain>": Found::path of an entry in a pack.
[[nodiscard]] std::string pack_entry_path(const std::string& pack, const Digest& digest);

// What the maker knows; toolchains and architectures are read out of the entries.
struct PackContents {
  std::vector<PackSource> sources;  // in any order; equal digests are kept once
  std::string recipe;
  std::vector<std::string> signatures;  // in any order
  bool complete = false;
};

// Copies the entries verbatim, each checked, into a new file that appears whole or not at all and
// replaces what is there. The bytes are a function of the entries, the recipe's name, the
// signatures and `complete`. Nothing when it is done; memory stays within the index and one entry.
[[nodiscard]] std::optional<Problem> write_pack(const std::string& path,
                                                const PackContents& contents);

// Replaces the pack by the same one with a signature; the same key gives the same bytes.
[[nodiscard]] std::optional<Problem> sign_pack(const std::string& path,
                                               const std::string& private_key);

struct Unpacked {
  std::int64_t stored = 0;
  std::int64_t already_there = 0;
  std::vector<VerifyProblem> problems;
};
// Publishes the entries into a root, verbatim.
[[nodiscard]] Unpacked unpack(const Pack& pack, const std::string& root);

}  // namespace kiln::cache
