// Typed front end of bias_backward: a misspelt key or argument is a compile error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kiln/arguments.hpp>
#include <kiln/signature.hpp>

namespace [[gnu::visibility("default")]] kiln {

// db = sum_rows(dy), and the sum of every row. The backward pass of y = x + b.
struct BiasBackward {
  std::int64_t n = 0;            // columns of a row, 1 to 2^24
  DType x = DType::bf16;         // dy: f32, f16 or bf16
  std::optional<DType> db = {};  // default: x's type, or f32 when accumulating
  bool accumulate = false;       // db += the sum (rounded first to db's type) instead of db =

  // Matrices are row-major; a row stride of 0 means n. Every pointer is device memory.
  struct Arguments {
    std::int64_t rows = 0;       // 0 to 2^31 - 1
    const void* dy = nullptr;    // [rows, n], type x
    float* row_sums = nullptr;   // [rows], the tensor "rows"
    void* db = nullptr;          // [n], type db
    std::int64_t dy_stride = 0;  // elements
  };

  // The canonical signature. Throws Error{invalid_signature} for a value out of range.
  [[nodiscard]] Signature signature() const {
    std::string text = "bias_backward:n=" + std::to_string(n) + ",x=";
    text += to_string(x);
    if (db) text.append(",db=").append(to_string(*db));
    if (accumulate) text += ",accumulate=1";
    return Signature::parse(text);
  }

  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments out;
    out.add(matrix("dy", const_cast<void*>(a.dy), x, a.rows, n, a.dy_stride));
    out.add(vector("rows", a.row_sums, DType::f32, a.rows));
    out.add(vector("db", a.db, db.value_or(accumulate ? DType::f32 : x), n));
    return out;
  }
};

}  // namespace kiln
