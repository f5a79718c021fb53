// Typed front end of adaln_backward: a misspelt key or argument is a compile error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kiln/arguments.hpp>
#include <kiln/signature.hpp>

namespace [[gnu::visibility("default")]] kiln {

// dx = rstd * (g - xh * mean_n(g * xh) - mean_n(g)) [+ residual],  g = dy * (1 + scale),
// dscale = sum_rows(dy * xh),  dshift = sum_rows(dy),  xh = (x - mean) * rstd. The backward pass of
// y = xh * (1 + scale) + shift (adaLN: Peebles and Xie, 2023).
struct AdalnBackward {
  std::int64_t n = 0;               // columns of a row, 1 to 2^24
  DType x = DType::bf16;            // x, dy, dx, residual: f32, f16 or bf16
  std::optional<DType> scale = {};  // default: x's type
  std::optional<DType> dscale =
      {};                   // dscale and dshift; default: x's type, or f32 when accumulating
  bool accumulate = false;  // dscale and dshift += the sums (rounded first to their type)
  bool residual = false;    // add a residual gradient to dx

  // Matrices are row-major; a row stride of 0 means n. Every pointer is device memory.
  struct Arguments {
    std::int64_t rows = 0;           // 0 to 2^31 - 1
    const void* dy = nullptr;        // [rows, n], type x
    const void* x = nullptr;         // [rows, n], type x
    const float* mean = nullptr;     // [rows]
    const float* rstd = nullptr;     // [rows]
    const void* scale = nullptr;     // [n], type scale
    const void* residual = nullptr;  // [rows, n], type x; null without a residual
    void* dx = nullptr;              // [rows, n], type x
    void* dscale = nullptr;          // [n], type dscale
    void* dshift = nullptr;          // [n], type dscale
    std::int64_t dy_stride = 0, x_stride = 0, residual_stride = 0, dx_stride = 0;  // elements
  };

  // The canonical signature. Throws Error{invalid_signature} for a value out of range.
  [[nodiscard]] Signature signature() const {
    std::string text = "adaln_backward:n=" + std::to_string(n) + ",x=";
    text += to_string(x);
    if (scale) text.append(",scale=").append(to_string(*scale));
    if (dscale) text.append(",dscale=").append(to_string(*dscale));
    if (accumulate) text += ",accumulate=1";
    if (residual) text += ",residual=1";
    return Signature::parse(text);
  }

  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments out;
    out.add(matrix("dy", const_cast<void*>(a.dy), x, a.rows, n, a.dy_stride));
    out.add(matrix("x", const_cast<void*>(a.x), x, a.rows, n, a.x_stride));
    out.add(vector("mean", const_cast<float*>(a.mean), DType::f32, a.rows));
    out.add(vector("rstd", const_cast<float*>(a.rstd), DType::f32, a.rows));
    out.add(vector("scale", const_cast<void*>(a.scale), scale.value_or(x), n));
    out.add(matrix("dx", a.dx, x, a.rows, n, a.dx_stride));
    const DType sums = dscale.value_or(accumulate ? DType::f32 : x);
    out.add(vector("dscale", a.dscale, sums, n));
    out.add(vector("dshift", a.dshift, sums, n));
    if (residual)
      out.add(matrix("residual", const_cast<void*>(a.residual), x, a.rows, n, a.residual_stride));
    return out;
  }
};

}  // namespace kiln
