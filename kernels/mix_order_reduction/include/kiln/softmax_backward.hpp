// Typed front end of softmax_backward: a misspelt key or argument is a compile error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kiln/arguments.hpp>
#include <kiln/signature.hpp>

namespace [[gnu::visibility("default")]] kiln {

// dx = y * (dy - sum_n(dy * y)),  dbias = sum_rows(dx). The backward pass of y = softmax(x + bias).
struct SoftmaxBackward {
  std::int64_t n = 0;               // columns of a row, 1 to 2^24
  DType x = DType::bf16;            // y, dy, dx: f32, f16 or bf16
  std::optional<DType> dbias = {};  // default: no dbias, or f32 when accumulating
  bool accumulate = false;  // dbias += the sum (rounded first to dbias's type) instead of dbias =

  // Matrices are row-major; a row stride of 0 means n. Every pointer is device memory.
  struct Arguments {
    std::int64_t rows = 0;                                    // 0 to 2^31 - 1
    const void* y = nullptr;                                  // [rows, n], type x
    const void* dy = nullptr;                                 // [rows, n], type x
    void* dx = nullptr;                                       // [rows, n], type x
    void* dbias = nullptr;                                    // [n]; null where it is not wanted
    std::int64_t y_stride = 0, dy_stride = 0, dx_stride = 0;  // elements
  };

  // The canonical signature. Throws Error{invalid_signature} for a value out of range.
  [[nodiscard]] Signature signature() const {
    std::string text = "softmax_backward:n=" + std::to_string(n) + ",x=";
    text += to_string(x);
    if (dbias) text.append(",dbias=").append(to_string(*dbias));
    if (accumulate) text += ",accumulate=1";
    return Signature::parse(text);
  }

  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments out;
    out.add(matrix("y", const_cast<void*>(a.y), x, a.rows, n, a.y_stride));
    out.add(matrix("dy", const_cast<void*>(a.dy), x, a.rows, n, a.dy_stride));
    out.add(matrix("dx", a.dx, x, a.rows, n, a.dx_stride));
    if (dbias || accumulate) out.add(vector("dbias", a.dbias, dbias.value_or(DType::f32), n));
    return out;
  }
};

}  // namespace kiln
