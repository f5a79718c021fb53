// Ops of your own: a row-and-column reduction described by its formula, in a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#pragma GCC visibility push(default)  // the names a shared library exports

namespace [[gnu::visibility("default")]] kiln {

// Adds the op that a description (docs/descriptions.md) holds to those of this process, and returns
// its name; from then on signatures name it as any other. It stays until the process ends, and may
// be called from any thread. The same text again changes nothing. Kernels are found in the cache by
// what the description comes to, so a changed description is never served an old kernel. No
// composed kernel is built in for it: where nothing may be compiled and nothing is cached,
// `prepare` throws Error{unavailable}. Throws Error{invalid_source} that names `where`, the
// statement and the column of a mistake, or says that another op has the name.
std::string register_op(std::string_view json, std::string_view where);

// The same of a file. Throws Error{io_error} when it cannot be read, and what register_op throws.
std::string register_op_file(const std::string& path);

}  // namespace kiln

#pragma GCC visibility pop
