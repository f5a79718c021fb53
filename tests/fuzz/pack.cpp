// Fuzzes packs as files, and their heads with right checksums: every entry is readable or a reason.
// SPDX-License-Identifier: Apache-2.0
#include "cache/pack.hpp"

#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

#include "cache/pack_format.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

using cache::PackEntry;
using cache::PackHead;
using cache::PackHeader;

// Opens the bytes as a file and reads all of it.
void check_file(std::span<const std::byte> bytes) {
  cache::Descriptor file(::memfd_create("pack", MFD_CLOEXEC));
  expect(
      file && ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
      "a file in memory can be written");
  const auto opened = cache::Pack::open(std::move(file), "pack");
  const auto* pack = std::get_if<cache::Pack>(&opened);
  if (pack == nullptr) {
    expect(!std::get<cache::Problem>(opened).text.empty(), "a pack that is refused has a reason");
    return;
  }
  const auto problems = pack->verify();
  expect(problems.size() <= pack->entries().size(), "an entry has one problem at most");
  for (const PackEntry& entry : pack->entries()) {
    expect(pack->find(entry.digest) == &entry, "an entry is found by its digest");
    expect(!pack->find_kernel(entry.digest.kernel).empty(), "an entry is found by its kernel");
  }
}

void check_head(const PackHeader& header, std::span<const std::byte> bytes) {
  const auto head = cache::decode_head(header, bytes);
  if (const auto* read = std::get_if<PackHead>(&head)) {
    const auto again = cache::manifest_from_json(cache::manifest_to_json(read->manifest));
    expect(again == read->manifest, "a manifest that was read can be written");
    expect(cache::encode_index(read->entries, read->manifest_json).size() ==
               header.index_bytes() + header.manifest_bytes,
           "an index that was read can be written");
  }
}

// The bytes as index and manifest, with the rest made right.
void check_forged(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const auto wanted = std::to_integer<std::size_t>(bytes[0]) % 8;
  bytes = bytes.subspan(1);
  PackHeader header;
  header.entries = std::min(wanted, bytes.size() / cache::kIndexEntryBytes);
  header.manifest_bytes = bytes.size() - header.index_bytes();
  if (header.manifest_bytes > cache::kMaxManifestBytes) return;
  // Whatever the index says it needs, so that some indexes add up.
  for (std::size_t i = 0; i < header.entries; ++i) {
    const auto low = bytes.subspan(i * cache::kIndexEntryBytes + 72, 3);
    for (std::size_t byte = 0; byte < 3; ++byte)
      header.entries_bytes += std::to_integer<std::uint64_t>(low[byte]) << (8 * byte);
  }
  std::vector<std::byte> forged = cache::encode_header(header);
  forged.insert(forged.end(), bytes.begin(), bytes.end());
  const Sha256 sum = sha256(forged);
  const auto sum_bytes = std::as_bytes(std::span(sum));
  forged.insert(forged.end(), sum_bytes.begin(), sum_bytes.end());
  check_head(header, forged);
}

}  // namespace

void pack(std::span<const std::byte> bytes) {
  check_file(bytes);
  check_forged(bytes);
}

}  // namespace kiln::fuzz
