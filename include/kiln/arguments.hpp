// Run-time arguments of a kernel: named tensors in device memory, and scalars.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <kiln/dtype.hpp>

#pragma GCC visibility push(default)  // the names a shared library exports

namespace [[gnu::visibility("default")]] kiln {

// A strided view of device memory, or a number (rank 0). Strides are in elements. `name` must
// outlive the call it is passed to (a literal). A tensor whose data is null and which is optional
// counts as absent.
struct Tensor {
  std::string_view name;
  void* data = nullptr;
  DType type = DType::f32;
  int rank = 0;
  std::array<std::int64_t, 4> shape{};
  std::array<std::int64_t, 4> strides{};
  double value = 0;  // rank 0 without data: rounded to fp32 for the kernel

  [[nodiscard]] bool is_scalar() const noexcept { return rank == 0 && data == nullptr; }
};

// A number that the kernel takes by value, such as an epsilon: read when a launch is bound.
[[nodiscard]] inline Tensor scalar(std::string_view name, double value) {
  return {name, nullptr, DType::f32, 0, {}, {}, value};
}

[[nodiscard]] inline Tensor vector(std::string_view name,
                                   void* data,
                                   DType type,
                                   std::int64_t size) {
  return {name, data, type, 1, {size, 0, 0, 0}, {1, 0, 0, 0}};
}
// row_stride 0 means contiguous.
[[nodiscard]] inline Tensor matrix(std::string_view name,
                                   void* data,
                                   DType type,
                                   std::int64_t rows,
                                   std::int64_t columns,
                                   std::int64_t row_stride = 0) {
  return {name,
          data,
          type,
          2,
          {rows, columns, 0, 0},
          {row_stride == 0 ? columns : row_stride, 1, 0, 0}};
}

// A fixed-capacity list, so that re-binding allocates nothing.
struct Arguments {
  static constexpr int kCapacity = 24;
  std::array<Tensor, kCapacity> tensors{};
  int count = 0;

  // Throws Error{invalid_argument} when full or when the name is already there.
  void add(const Tensor& tensor);
  // The tensor of that name, or null when absent or its data is null.
  [[nodiscard]] const Tensor* find(std::string_view name) const noexcept;
};

}  // namespace kiln

#pragma GCC visibility pop
