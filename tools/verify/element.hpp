// Host conversions between double and the stored element types, rounding to nearest even in one
// step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <kiln/dtype.hpp>

namespace kiln::verify {

// The bits of the nearest element; ties go to even, overflow to infinity, subnormals are kept.
[[nodiscard]] std::uint16_t to_f16(double value) noexcept;
[[nodiscard]] std::uint16_t to_bf16(double value) noexcept;
[[nodiscard]] double from_f16(std::uint16_t bits) noexcept;
[[nodiscard]] double from_bf16(std::uint16_t bits) noexcept;

// Writes size_bytes(type) bytes at `at`, or reads them. Unaligned addresses are fine.
void store(DType type, double value, std::byte* at) noexcept;
[[nodiscard]] double load(DType type, const std::byte* at) noexcept;

// The value the element type holds after storing.
[[nodiscard]] double rounded(DType type, double value) noexcept;

}  // namespace kiln::verify
