// Typed front end of absmax: a misspelt key or argument is a compile error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <kiln/arguments.hpp>
#include <kiln/signature.hpp>

namespace [[gnu::visibility("default")]] kiln {

// The largest magnitude of every row and of every column: what scales of a quantised matrix are
// made of. NaN where any value is.
struct Absmax {
  std::int64_t n = 0;     // columns of a row, 1 to 2^24
  DType x = DType::bf16;  // f32, f16 or bf16

  // Matrices are row-major; a row stride of 0 means n. Every pointer is device memory.
  struct Arguments {
    std::int64_t rows = 0;           // 0 to 2^31 - 1
    const void* x = nullptr;         // [rows, n], type x
    float* row_maxima = nullptr;     // [rows], the tensor "rows"
    float* column_maxima = nullptr;  // [n], the tensor "columns"
    std::int64_t x_stride = 0;       // elements
  };

  // The canonical signature. Throws Error{invalid_signature} for a value out of range.
  [[nodiscard]] Signature signature() const {
    return Signature::parse("absmax:n=" + std::to_string(n) + ",x=" + std::string(to_string(x)));
  }

  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments out;
    out.add(matrix("x", const_cast<void*>(a.x), x, a.rows, n, a.x_stride));
    out.add(vector("rows", a.row_maxima, DType::f32, a.rows));
    out.add(vector("columns", a.column_maxima, DType::f32, n));
    return out;
  }
};

}  // namespace kiln
