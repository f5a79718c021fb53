// Typed front end of rms_norm_pair_backward: a misspelt key or argument is a compile error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kiln/arguments.hpp>
#include <kiln/signature.hpp>

namespace [[gnu::visibility("default")]] kiln {

// RmsNormBackward of two matrices with weights of their own, in one pass. Norms that feed a
// concatenation, as in EAGLE-3 (Li et al., 2025), have its gradient's halves as dy1 and dy2: views
// with a row stride of 2n.
struct RmsNormPairBackward {
  std::int64_t n = 0;            // columns of a row of each, 1 to 2^24
  DType x = DType::bf16;         // every matrix: f32, f16 or bf16
  std::optional<DType> w = {};   // w1 and w2; default: x's type
  std::optional<DType> dw = {};  // dw1 and dw2; default: w's type, or f32 when accumulating
  bool accumulate = false;  // dw1 and dw2 += the sums (rounded first to their type) instead of =
  bool residual = false;    // add residual gradients to dx1 and dx2

  // Matrices are row-major; a row stride of 0 means n. Every pointer is device memory.
  struct Arguments {
    std::int64_t rows = 0;            // 0 to 2^31 - 1
    const void* dy1 = nullptr;        // [rows, n], type x
    const void* dy2 = nullptr;        // [rows, n], type x
    const void* x1 = nullptr;         // [rows, n], type x
    const void* x2 = nullptr;         // [rows, n], type x
    const float* rstd1 = nullptr;     // [rows]
    const float* rstd2 = nullptr;     // [rows]
    const void* w1 = nullptr;         // [n], type w
    const void* w2 = nullptr;         // [n], type w
    const void* residual1 = nullptr;  // [rows, n], type x; null without residuals
    const void* residual2 = nullptr;  // [rows, n], type x; null without residuals
    void* dx1 = nullptr;              // [rows, n], type x
    void* dx2 = nullptr;              // [rows, n], type x
    void* dw1 = nullptr;              // [n], type dw
    void* dw2 = nullptr;              // [n], type dw
    std::int64_t dy1_stride = 0, dy2_stride = 0, x1_stride = 0, x2_stride = 0;  // elements
    std::int64_t residual1_stride = 0, residual2_stride = 0, dx1_stride = 0, dx2_stride = 0;
  };

  // The canonical signature. Throws Error{invalid_signature} for a value out of range.
  [[nodiscard]] Signature signature() const {
    std::string text = "rms_norm_pair_backward:n=" + std::to_string(n) + ",x=";
    text += to_string(x);
    if (w) text.append(",w=").append(to_string(*w));
    if (dw) text.append(",dw=").append(to_string(*dw));
    if (accumulate) text += ",accumulate=1";
    if (residual) text += ",residual=1";
    return Signature::parse(text);
  }

  // For Prepared::bind and Launch::rebind of a kernel prepared from signature().
  [[nodiscard]] kiln::Arguments arguments(const Arguments& a) const {
    kiln::Arguments out;
    const DType weight = w.value_or(x), sums = dw.value_or(accumulate ? DType::f32 : weight);
    out.add(matrix("dy1", const_cast<void*>(a.dy1), x, a.rows, n, a.dy1_stride));
    out.add(matrix("dy2", const_cast<void*>(a.dy2), x, a.rows, n, a.dy2_stride));
    out.add(matrix("x1", const_cast<void*>(a.x1), x, a.rows, n, a.x1_stride));
    out.add(matrix("x2", const_cast<void*>(a.x2), x, a.rows, n, a.x2_stride));
    out.add(vector("rstd1", const_cast<float*>(a.rstd1), DType::f32, a.rows));
    out.add(vector("rstd2", const_cast<float*>(a.rstd2), DType::f32, a.rows));
    out.add(vector("w1", const_cast<void*>(a.w1), weight, n));
    out.add(vector("w2", const_cast<void*>(a.w2), weight, n));
    out.add(matrix("dx1", a.dx1, x, a.rows, n, a.dx1_stride));
    out.add(matrix("dx2", a.dx2, x, a.rows, n, a.dx2_stride));
    out.add(vector("dw1", a.dw1, sums, n));
    out.add(vector("dw2", a.dw2, sums, n));
    if (residual) {
      out.add(
          matrix("residual1", const_cast<void*>(a.residual1), x, a.rows, n, a.residual1_stride));
      out.add(
          matrix("residual2", const_cast<void*>(a.residual2), x, a.rows, n, a.residual2_stride));
    }
    return out;
  }
};

}  // namespace kiln
