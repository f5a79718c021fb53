// Typed front end of rms_norm_forward: a misspelt key or argument is a compile error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kiln/arguments.hpp>
#include <kiln/signature.hpp>

namespace [[gnu::visibility("default")]] kiln {

// y = h * rstd * w,  rstd = 1 / sqrt(mean_n(h^2) + eps),  h = x [+ residual, rounded to x's type]
// (Zhang and Sennrich, 2019, equation 4); with an offset y = h * rstd * (1 + w).
struct RmsNormForward {
  std::int64_t n = 0;                    // columns of a row, 1 to 2^24
  DType x = DType::bf16;                 // x, y, residual, h: f32, f16 or bf16
  std::optional<DType> w = DType::bf16;  // nothing: no weight
  bool offset = false;                   // the weight is 1 + w
  bool residual = false;                 // normalise h = x + residual, and write h

  // Matrices are row-major; a row stride of 0 means n. Every pointer is device memory.
  struct Arguments {
    std::int64_t rows = 0;           // 0 to 2^31 - 1
    const void* x = nullptr;         // [rows, n], type x
    const void* residual = nullptr;  // [rows, n], type x; null without a residual
    const void* w = nullptr;         // [n], type w; null without a weight
    double eps = 1e-5;               // rounded to fp32; no value causes a compile
    void* y = nullptr;               // [rows, n], type x
    void* h = nullptr;               // [rows, n], type x; null without a residual
    float* rstd = nullptr;           // [rows]
    std::int64_t x_stride = 0, residual_stride = 0, y_stride = 0, h_stride = 0;  // elements
  };

  // The canonical signature. Throws Error{invalid_signature} for a value out of range or a
  // contradiction.
  [[nodiscard]] Signature signature() const {
    std::string text = "rms_norm_forward:n=" + std::to_string(n) + ",x=";
    text += to_string(x);
    text += ",w=";
    text += w ? to_string(*w) : std::string_view("none");
    if (offset) text += ",offset=1";
    if (residual) text += ",residual=1";
    return Signature::parse(text);
  }

  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments out;
    out.add(matrix("x", const_cast<void*>(a.x), x, a.rows, n, a.x_stride));
    if (w) out.add(vector("w", const_cast<void*>(a.w), *w, n));
    out.add(scalar("eps", a.eps));
    out.add(matrix("y", a.y, x, a.rows, n, a.y_stride));
    out.add(vector("rstd", a.rstd, DType::f32, a.rows));
    if (residual) {
      out.add(matrix("residual", const_cast<void*>(a.residual), x, a.rows, n, a.residual_stride));
      out.add(matrix("h", a.h, x, a.rows, n, a.h_stride));
    }
    return out;
  }
};

}  // namespace kiln
