// Typed front end of layer_norm_backward: a misspelt key or argument is a compile error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kiln/arguments.hpp>
#include <kiln/signature.hpp>

namespace [[gnu::visibility("default")]] kiln {

// dx = rstd * (dy*w - xh * mean_n(dy*w * xh) - mean_n(dy*w)) [+ residual],  dw = sum_rows(dy * xh),
// db = sum_rows(dy),  xh = (x - mean) * rstd. The backward pass of y = xh * w + b with
// rstd = 1 / sqrt(variance + eps) (Ba, Kiros and Hinton, 2016, equation 4).
struct LayerNormBackward {
  // The type of a gradient, or that it is not wanted.
  enum class Gradient { f32, f16, bf16, none };

  std::int64_t n = 0;                    // columns of a row, 1 to 2^24
  DType x = DType::bf16;                 // x, dy, dx, residual: f32, f16 or bf16
  std::optional<DType> w = DType::bf16;  // nothing: no weight and no dw
  std::optional<Gradient> dw = {};       // default: w's type, or f32 when accumulating
  std::optional<Gradient> db = {};       // default: dw's; of one type where both are wanted
  bool accumulate = false;  // dw and db += the sums (rounded first to their type) instead of =
  bool residual = false;    // add a residual gradient to dx

  // Matrices are row-major; a row stride of 0 means n. Every pointer is device memory.
  struct Arguments {
    std::int64_t rows = 0;           // 0 to 2^31 - 1
    const void* dy = nullptr;        // [rows, n], type x
    const void* x = nullptr;         // [rows, n], type x
    const float* mean = nullptr;     // [rows]
    const float* rstd = nullptr;     // [rows]
    const void* w = nullptr;         // [n], type w; null without a weight
    const void* residual = nullptr;  // [rows, n], type x; null without a residual
    void* dx = nullptr;              // [rows, n], type x
    void* dw = nullptr;              // [n]; null where it is not wanted
    void* db = nullptr;              // [n]; null where it is not wanted
    std::int64_t dy_stride = 0, x_stride = 0, residual_stride = 0, dx_stride = 0;  // elements
  };

  // The canonical signature. Throws Error{invalid_signature} for a value out of range or a
  // contradiction.
  [[nodiscard]] Signature signature() const {
    std::string text = "layer_norm_backward:n=" + std::to_string(n) + ",x=";
    text += to_string(x);
    text += ",w=";
    text += w ? to_string(*w) : std::string_view("none");
    if (dw) text.append(",dw=").append(name(*dw));
    if (db) text.append(",db=").append(name(*db));
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
    out.add(matrix("dx", a.dx, x, a.rows, n, a.dx_stride));
    if (w) out.add(vector("w", const_cast<void*>(a.w), *w, n));
    const Gradient weight = weight_gradient();
    if (weight != Gradient::none) out.add(vector("dw", a.dw, *parse_dtype(name(weight)), n));
    const Gradient bias = bias_gradient(weight);
    if (bias != Gradient::none) out.add(vector("db", a.db, *parse_dtype(name(bias)), n));
    if (residual)
      out.add(matrix("residual", const_cast<void*>(a.residual), x, a.rows, n, a.residual_stride));
    return out;
  }

 private:
  static std::string_view name(Gradient gradient) {
    switch (gradient) {
      case Gradient::f32:
        return "f32";
      case Gradient::f16:
        return "f16";
      case Gradient::bf16:
        return "bf16";
      case Gradient::none:
        return "none";
    }
    return "none";
  }
  static Gradient of(DType type) {
    return type == DType::f32 ? Gradient::f32 : type == DType::f16 ? Gradient::f16 : Gradient::bf16;
  }
  // The defaults of the signature.
  [[nodiscard]] Gradient weight_gradient() const {
    if (!w) return Gradient::none;
    return dw.value_or(accumulate ? Gradient::f32 : of(*w));
  }
  [[nodiscard]] Gradient bias_gradient(Gradient weight) const {
    if (db) return *db;
    if (weight != Gradient::none || !w) return weight;
    return accumulate ? Gradient::f32 : of(*w);
  }
};

}  // namespace kiln
