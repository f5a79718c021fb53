// Element types of tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)  // the names a shared library exports

namespace [[gnu::visibility("default")]] kiln {

enum class DType : std::uint8_t { f32, f16, bf16, i32 };

[[nodiscard]] std::string_view to_string(DType type) noexcept;
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view text) noexcept;
[[nodiscard]] int size_bytes(DType type) noexcept;

}  // namespace kiln

#pragma GCC visibility pop
