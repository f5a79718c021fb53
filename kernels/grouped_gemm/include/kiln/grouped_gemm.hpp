// Typed front end of the grouped GEMMs: a misspelt key or argument is a compile error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <kiln/arguments.hpp>
#include <kiln/signature.hpp>

namespace [[gnu::visibility("default")]] kiln {

// Shapes shared by the three ops. Groups own consecutive rows: group e has rows offs[e - 1] (0 for
// the first) to offs[e] - 1. Every pointer is device memory; a stride of 0 means contiguous.
struct GroupedGemmOffsets {
  const int* offs = nullptr;  // [groups] end rows, or [groups + 1] with a leading zero
  std::int64_t groups = 0;    // 1 to 1,024
  bool leading_zero = false;

  [[nodiscard]] Tensor tensor() const {
    return vector("offs", const_cast<int*>(offs), DType::i32, groups + (leading_zero ? 1 : 0));
  }
};

namespace detail {

inline Tensor matrices(std::string_view name,
                       void* data,
                       DType type,
                       std::int64_t groups,
                       std::int64_t rows,
                       std::int64_t columns,
                       std::int64_t row_stride) {
  const std::int64_t stride = row_stride == 0 ? columns : row_stride;
  return {name, data, type, 3, {groups, rows, columns, 0}, {rows * stride, stride, 1, 0}};
}

inline std::string grouped_gemm_keys(
    std::string_view op, std::int64_t n, std::int64_t k, DType out, std::int64_t mean_rows) {
  return std::string(op) + ":n=" + std::to_string(n) + ",k=" + std::to_string(k) +
         ",out=" + std::string(to_string(out)) + ",rows=" + std::to_string(mean_rows);
}

}  // namespace detail

// y[r] = x[r] w[e]^T for the rows r of each group e.
struct GroupedGemmForward {
  std::int64_t n = 0;          // columns of y, a multiple of 8
  std::int64_t k = 0;          // columns of x, a multiple of 8
  DType out = DType::bf16;     // of y: bf16 or f32
  std::int64_t mean_rows = 0;  // of a group, to prepare just the kernel for them; 0: any

  struct Arguments {
    std::int64_t rows = 0;    // of x and y, 0 to 2^31 - 1
    const void* x = nullptr;  // [rows, k] bf16, rows on 16 bytes
    const void* w = nullptr;  // [groups, n, k] bf16, rows on 16 bytes
    GroupedGemmOffsets offsets;
    void* y = nullptr;                                      // [rows, n]
    std::int64_t x_stride = 0, w_stride = 0, y_stride = 0;  // between rows, elements
  };

  // Throws Error{invalid_signature} for a value out of range or no multiple of 8.
  [[nodiscard]] Signature signature() const {
    return Signature::parse(
        detail::grouped_gemm_keys("grouped_gemm_forward", n, k, out, mean_rows));
  }
  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments all;
    all.add(matrix("x", const_cast<void*>(a.x), DType::bf16, a.rows, k, a.x_stride));
    all.add(detail::matrices(
        "w", const_cast<void*>(a.w), DType::bf16, a.offsets.groups, n, k, a.w_stride));
    all.add(a.offsets.tensor());
    all.add(matrix("y", a.y, out, a.rows, n, a.y_stride));
    return all;
  }
};

// dx[r] = g[r] w[e] for the rows r of each group e.
struct GroupedGemmDgrad {
  std::int64_t n = 0;          // columns of g, a multiple of 8
  std::int64_t k = 0;          // columns of dx, a multiple of 8
  DType out = DType::bf16;     // of dx: bf16 or f32
  std::int64_t mean_rows = 0;  // of a group, to prepare just the kernel for them; 0: any

  struct Arguments {
    std::int64_t rows = 0;    // of g and dx, 0 to 2^31 - 1
    const void* g = nullptr;  // [rows, n] bf16, rows on 16 bytes
    const void* w = nullptr;  // [groups, n, k] bf16, rows on 16 bytes
    GroupedGemmOffsets offsets;
    void* dx = nullptr;                                      // [rows, k]
    std::int64_t g_stride = 0, w_stride = 0, dx_stride = 0;  // between rows, elements
  };

  // Throws Error{invalid_signature} for a value out of range or no multiple of 8.
  [[nodiscard]] Signature signature() const {
    return Signature::parse(detail::grouped_gemm_keys("grouped_gemm_dgrad", n, k, out, mean_rows));
  }
  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments all;
    all.add(matrix("g", const_cast<void*>(a.g), DType::bf16, a.rows, n, a.g_stride));
    all.add(detail::matrices(
        "w", const_cast<void*>(a.w), DType::bf16, a.offsets.groups, n, k, a.w_stride));
    all.add(a.offsets.tensor());
    all.add(matrix("dx", a.dx, out, a.rows, k, a.dx_stride));
    return all;
  }
};

// dw[e] = g[r]^T x[r] over the rows r of each group e; an empty group gives zeros. Accumulating:
// the bits of dw.add_(that).
struct GroupedGemmWgrad {
  std::int64_t n = 0;          // rows of dw's matrices, a multiple of 8
  std::int64_t k = 0;          // columns of dw, a multiple of 8
  DType out = DType::bf16;     // of dw: bf16 or f32
  bool accumulate = false;     // dw += instead of dw =
  std::int64_t mean_rows = 0;  // of a group, to prepare just the kernel for them; 0: any

  struct Arguments {
    std::int64_t rows = 0;    // of g and x, 0 to 2^31 - 1
    const void* g = nullptr;  // [rows, n] bf16, rows on 16 bytes
    const void* x = nullptr;  // [rows, k] bf16, rows on 16 bytes
    GroupedGemmOffsets offsets;
    void* dw = nullptr;                                      // [groups, n, k]
    std::int64_t g_stride = 0, x_stride = 0, dw_stride = 0;  // between rows, elements
  };

  // Throws Error{invalid_signature} for a value out of range or no multiple of 8.
  [[nodiscard]] Signature signature() const {
    return Signature::parse(detail::grouped_gemm_keys("grouped_gemm_wgrad", n, k, out, mean_rows) +
                            (accumulate ? ",accumulate=1" : ""));
  }
  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments all;
    all.add(matrix("g", const_cast<void*>(a.g), DType::bf16, a.rows, n, a.g_stride));
    all.add(matrix("x", const_cast<void*>(a.x), DType::bf16, a.rows, k, a.x_stride));
    all.add(a.offsets.tensor());
    all.add(detail::matrices("dw", a.dw, out, a.offsets.groups, n, k, a.dw_stride));
    return all;
  }
};

}  // namespace kiln
