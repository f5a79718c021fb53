// Entries that a person names: by a digest's beginning, a file, or a signature.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cache/entry.hpp"
#include "cache/store.hpp"

namespace kiln::cli {

// Reads a file of a folder, or "<pack>#<kernel>.<toolchain>". Throws Error{io_error} with the
// reason.
[[nodiscard]] cache::Entry read_entry_at(const std::string& path);

// The entry whose digest begins so, of the folder and the layers; at least 4 digits. Throws
// Error{invalid_argument} when there is none, and with the candidates when there are several.
[[nodiscard]] cache::Found entry_with_digest(cache::Store& store, std::string_view beginning);

// A key by whatever `what` is: a signature (needs `arch`), a file, else a digest's beginning.
// Throws Error.
[[nodiscard]] Key key_named(const std::string& what, const std::string& arch);

}  // namespace kiln::cli
