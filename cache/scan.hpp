// Going through the entries of a root.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "cache/layout.hpp"
#include "cache/reader.hpp"

namespace kiln::cache {

// Called with each thing found in v1/e/<2 hex>; the result of reading is `bad` for what has no
// entry's name, and for an entry whose key is not the one its name says.
using Visit = std::function<void(const EntryName& name, ReadResult& result)>;

// Changes nothing. What is in v1/e without being a folder of entries is visited with an empty
// folder name.
void visit_entries(const Root& root, const Visit& visit);

// Opens v1/e/<folder>. `result` tells why not: missing, unreadable or bad.
[[nodiscard]] Descriptor open_entry_folder(const Root& root,
                                           const std::string& folder,
                                           ReadResult& result);

// Reads the entry and checks that its own digest is the one its name says.
[[nodiscard]] ReadResult read_named_entry(const Root& root,
                                          int folder,
                                          const EntryName& name,
                                          Decompressor& decompressor);

}  // namespace kiln::cache
