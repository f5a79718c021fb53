// Random test data that depends on the seed alone: not on the thread count, the library or the
// order of calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/family.hpp"

namespace kiln::verify {

// The stream of one tensor.
[[nodiscard]] std::uint64_t stream_of(std::uint64_t seed, std::string_view name) noexcept;
// Element `index` of a stream, before rounding to the element type.
[[nodiscard]] double sample(Fill fill, std::uint64_t stream, std::int64_t index) noexcept;

// A seed nobody chose, from the system; print it.
[[nodiscard]] std::uint64_t fresh_seed();

}  // namespace kiln::verify
