// Splitting host work over the cores; the split changes no result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace kiln::verify {

// Calls body(begin, end) for disjoint ranges that cover [0, count). body must not throw.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace kiln::verify
