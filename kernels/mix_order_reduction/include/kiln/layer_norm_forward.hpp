// Typed front end of layer_norm_forward: a misspelt key or argument is a compile error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kiln/arguments.hpp>
#include <kiln/signature.hpp>

namespace [[gnu::visibility("default")]] kiln {

// y = (h - mean) * rstd * w + b,  mean = mean_n(h),  rstd = 1 / sqrt(mean_n((h - mean)^2) + eps),
// h = x [+ residual, rounded to x's type] (Ba, Kiros and Hinton, 2016, equation 4).
struct LayerNormForward {
  std::int64_t n = 0;                    // columns of a row, 1 to 2^24
  DType x = DType::bf16;                 // x, y, residual, h: f32, f16 or bf16
  std::optional<DType> w = DType::bf16;  // nothing: no weight
  std::optional<DType> b = DType::bf16;  // nothing: no bias
  bool residual = false;                 // normalise h = x + residual, and write h

  // Matrices are row-major; a row stride of 0 means n. Every pointer is device memory.
  struct Arguments {
    std::int64_t rows = 0;           // 0 to 2^31 - 1
    const void* x = nullptr;         // [rows, n], type x
    const void* residual = nullptr;  // [rows, n], type x; null without a residual
    const void* w = nullptr;         // [n], type w; null without a weight
    const void* b = nullptr;         // [n], type b; null without a bias
    double eps = 1e-5;               // rounded to fp32; no value causes a compile
    void* y = nullptr;               // [rows, n], type x
    void* h = nullptr;               // [rows, n], type x; null without a residual
    float* mean = nullptr;           // [rows]
    float* rstd = nullptr;           // [rows]
    std::int64_t x_stride = 0, residual_stride = 0, y_stride = 0, h_stride = 0;  // elements
  };

  // The canonical signature. Throws Error{invalid_signature} for a value out of range.
  [[nodiscard]] Signature signature() const {
    std::string text = "layer_norm_forward:n=" + std::to_string(n) + ",x=";
    text += to_string(x);
    text += ",w=";
    text += w ? to_string(*w) : std::string_view("none");
    text += ",b=";
    text += b ? to_string(*b) : std::string_view("none");
    if (residual) text += ",residual=1";
    return Signature::parse(text);
  }

  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments out;
    out.add(matrix("x", const_cast<void*>(a.x), x, a.rows, n, a.x_stride));
    if (w) out.add(vector("w", const_cast<void*>(a.w), *w, n));
    if (b) out.add(vector("b", const_cast<void*>(a.b), *b, n));
    out.add(scalar("eps", a.eps));
    out.add(matrix("y", a.y, x, a.rows, n, a.y_stride));
    out.add(vector("mean", a.mean, DType::f32, a.rows));
    out.add(vector("rstd", a.rstd, DType::f32, a.rows));
    if (residual) {
      out.add(matrix("residual", const_cast<void*>(a.residual), x, a.rows, n, a.residual_stride));
      out.add(matrix("h", a.h, x, a.rows, n, a.h_stride));
    }
    return out;
  }
};

}  // namespace kiln
