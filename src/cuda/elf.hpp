// Reading just enough of ELF files: what identifies a library, and which kernels a cubin defines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// Hex of the NT_GNU_BUILD_ID note; nothing when the file is not an ELF file that has one.
[[nodiscard]] std::optional<std::string> elf_build_id(const std::string& path);

// The same out of the bytes of a PT_NOTE segment, on disk or mapped.
[[nodiscard]] std::optional<std::string> build_id_in_notes(std::string_view notes,
                                                           std::size_t alignment);

// Empty when the file is a whole shared library for this machine, else what is wrong with it. Asked
// before dlopen, which dies of SIGBUS on a truncated file.
[[nodiscard]] std::string shared_library_problem(const std::string& path);

// The global functions an ELF image defines, in the order of its symbol table; of a cubin, its
// entries. Empty for anything malformed.
[[nodiscard]] std::vector<std::string> elf_functions(std::string_view image);

}  // namespace kiln
