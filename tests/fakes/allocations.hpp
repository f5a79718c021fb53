// Counts what a call allocates: operator new of the whole test program is replaced.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace kiln::fakes {

// By any thread.
[[nodiscard]] int allocations_of(const std::function<void()>& call);

}  // namespace kiln::fakes
