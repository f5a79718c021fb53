// Locks of single digests between the processes of one node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "cache/descriptor.hpp"
#include "cache/layout.hpp"
#include "src/core/digest.hpp"

namespace kiln::cache {

// Where in the lock file the byte of this digest is.
[[nodiscard]] std::int64_t lock_offset(const Digest& digest) noexcept;

// The folder used when none is given.
[[nodiscard]] std::string default_lock_folder();

// A new open file description of the lock file: locks of two descriptions exclude each other, in
// one process too, and the kernel frees them when the last descriptor of the description is closed,
// so also when the process dies.
[[nodiscard]] std::variant<Descriptor, Problem> open_lock_file(const std::string& folder);

enum class LockAttempt { acquired, busy, impossible };

// Never waits. `impossible`: the file system has no such locks; errno says why.
[[nodiscard]] LockAttempt try_lock(int fd, std::int64_t offset) noexcept;
// The same, beside others that do not want it alone. try_lock then turns it into one held alone.
[[nodiscard]] LockAttempt try_lock_shared(int fd, std::int64_t offset) noexcept;

// Also frees what a forked child still holds open.
void unlock(int fd) noexcept;

}  // namespace kiln::cache
