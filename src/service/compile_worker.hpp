// Compiling in a process of its own: for a forked child, where NVRTC's locks may be held for ever.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "src/service/backends.hpp"

namespace kiln {

// The program kiln-worker beside this library or program, or in ../libexec/kiln or
// ../../libexec/kiln, libexec or ../../bin of it: a build, an installed tree, a Python package.
[[nodiscard]] std::optional<std::string> find_compile_worker();

// The same backends with NVRTC in a worker process, started when it is first needed. A worker that
// dies or takes longer than the limits allow is Error{nvrtc_missing} with its log, so that cached
// and composed kernels serve.
[[nodiscard]] Backends compiling_in_worker(Backends backends, const std::string& program);

// What a forked child compiles with. Without a worker program: nothing, when the parent had loaded
// NVRTC; what the parent used, when it had not.
[[nodiscard]] Backends after_fork(const Backends& backends, bool nvrtc_was_loaded);

}  // namespace kiln
