// A tensor's bytes as they lie in device memory: elements, the gaps between rows, and guard bands
// around it all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/family.hpp"

namespace kiln::verify {

// Guard bands keep the base's 256-byte alignment.
inline constexpr std::int64_t kGuardBytes = 4096;

struct Layout {
  std::string name;
  DType type = DType::f32;
  Role role = Role::input;
  int rank = 1;             // 0: a number, which has a place in the image alone
  std::int64_t groups = 1;  // rank 3: matrices, one after another
  std::int64_t rows = 1;    // of all groups
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;   // elements
  std::int64_t base_bytes = 0;   // of the first element, from the start of the allocation
  std::int64_t total_bytes = 0;  // of the allocation

  [[nodiscard]] std::int64_t elements() const noexcept { return rows * columns; }
  // Offset of an element, counted row-major without gaps.
  [[nodiscard]] std::int64_t offset(std::int64_t element) const noexcept;
  // The argument for this tensor in an allocation that starts at `allocation`.
  [[nodiscard]] Tensor tensor(std::uint64_t allocation) const;
};

struct LayoutOptions {
  // As far as TensorSpec::alignment allows.
  std::int64_t extra_stride = 0;  // elements between the rows of matrices
  std::int64_t misalign = 0;      // elements the base is moved by
};

// Throws Error{internal} for a rank above 3.
[[nodiscard]] Layout make_layout(const TensorSpec& spec, const LayoutOptions& options);

// The allocation before a launch. Inputs: values, and 0xFF (a NaN of every float type) in gaps and
// guards, so that a stray read shows. Outputs: elements are 0xFF, so that an unwritten one shows;
// in_out ones hold `values`; gaps and guards hold a pattern of their position, so that a stray
// write shows.
[[nodiscard]] std::vector<std::byte> make_image(const Layout& layout,
                                                std::span<const double> values);

// Says where the first byte is that must not have changed since make_image and did; nothing when
// all is well. Of an input every byte must be unchanged.
[[nodiscard]] std::optional<std::string> damage(const Layout& layout,
                                                std::span<const std::byte> before,
                                                std::span<const std::byte> after);

// Elements alone, row-major: as values, and as bytes for comparing bits.
[[nodiscard]] std::vector<double> decode(const Layout& layout, std::span<const std::byte> image);
[[nodiscard]] std::vector<std::byte> element_bytes(const Layout& layout,
                                                   std::span<const std::byte> image);

}  // namespace kiln::verify
