// Typed front end of rms_norm_backward: a misspelt key or argument is a compile error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kiln/arguments.hpp>
#include <kiln/signature.hpp>

namespace [[gnu::visibility("default")]] kiln {

// dx = rstd * (dy*w - xh * mean_n(dy*w * xh)) [+ residual],  dw = sum_rows(dy * xh),  xh = x *
// rstd. The backward pass of y = x * rstd * w with rstd = 1 / sqrt(mean_n(x^2) + eps) (Zhang and
// Sennrich, 2019, equation 4); with an offset, of y = x * rstd * (1 + w). Gated, of y * silu(z):
// dy * silu(z) takes dy's place above, and dz = dy * y * silu'(z).
struct RmsNormBackward {
  std::int64_t n = 0;                    // columns of a row, 1 to 2^24
  DType x = DType::bf16;                 // x, dy, dx, residual: f32, f16 or bf16
  std::optional<DType> w = DType::bf16;  // nothing: no weight and no dw
  std::optional<DType> dw = {};          // default: w's type, or f32 when accumulating
  bool accumulate = false;  // dw += the sum (rounded first to dw's type) instead of dw =
  bool residual = false;    // add a residual gradient to dx
  bool offset = false;      // the weight is 1 + w
  bool gated = false;       // the norm was multiplied by silu(z): take z, give dz

  // Matrices are row-major; a row stride of 0 means n. Every pointer is device memory.
  struct Arguments {
    std::int64_t rows = 0;           // 0 to 2^31 - 1
    const void* dy = nullptr;        // [rows, n], type x
    const void* x = nullptr;         // [rows, n], type x
    const float* rstd = nullptr;     // [rows]
    const void* w = nullptr;         // [n], type w; null without a weight
    const void* residual = nullptr;  // [rows, n], type x; null without a residual
    const void* z = nullptr;         // [rows, n], type x; null unless gated
    void* dx = nullptr;              // [rows, n], type x
    void* dz = nullptr;              // [rows, n], type x; null unless gated
    void* dw = nullptr;              // [n], type dw; null without a weight
    std::int64_t dy_stride = 0, x_stride = 0, residual_stride = 0, dx_stride = 0;  // elements
    std::int64_t z_stride = 0, dz_stride = 0;
  };

  // The canonical signature. Throws Error{invalid_signature} for a value out of range or a
  // contradiction.
  [[nodiscard]] Signature signature() const {
    std::string text =
        "rms_norm_backward:n=" + std::to_string(n) + ",x=" + std::string(to_string(x));
    text += ",w=" + (w ? std::string(to_string(*w)) : std::string("none"));
    if (dw) text += ",dw=" + std::string(to_string(*dw));
    if (accumulate) text += ",accumulate=1";
    if (residual) text += ",residual=1";
    if (offset) text += ",offset=1";
    if (gated) text += ",gated=1";
    return Signature::parse(text);
  }

  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments out;
    out.add(matrix("dy", const_cast<void*>(a.dy), x, a.rows, n, a.dy_stride));
    out.add(matrix("x", const_cast<void*>(a.x), x, a.rows, n, a.x_stride));
    out.add(vector("rstd", const_cast<float*>(a.rstd), DType::f32, a.rows));
    out.add(matrix("dx", a.dx, x, a.rows, n, a.dx_stride));
    if (w) {
      out.add(vector("w", const_cast<void*>(a.w), *w, n));
      out.add(vector("dw", a.dw, dw.value_or(accumulate ? DType::f32 : *w), n));
    }
    if (residual)
      out.add(matrix("residual", const_cast<void*>(a.residual), x, a.rows, n, a.residual_stride));
    if (gated) {
      out.add(matrix("z", const_cast<void*>(a.z), x, a.rows, n, a.z_stride));
      out.add(matrix("dz", a.dz, x, a.rows, n, a.dz_stride));
    }
    return out;
  }
};

}  // namespace kiln
