// Double-precision reference of rms_norm_backward, and per element the error its rounding allows.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/mix_order_reduction/layout.hpp"
#include "kernels/mix_order_reduction/op.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr double kUnit = 0x1p-24;   // relative error of one fp32 operation
constexpr double kTiny = 0x1p-140;  // absolute error where fp32 goes subnormal, generously

// Relative error of one rounding to the type, and the absolute error in its subnormal range.
struct Rounding {
  double relative, absolute;
};
Rounding rounding(DType type) {
  switch (type) {
    case DType::f16:
      return {0x1p-11, 0x1p-25};
    case DType::bf16:
      return {0x1p-8, 0x1p-134};
    case DType::f32:
    case DType::i32:
      return {kUnit, 0x1p-150};
  }
  return {kUnit, 0};
}

const std::vector<double>* find(std::span<const HostTensor> tensors, std::string_view name) {
  for (const HostTensor& t : tensors) {
    if (t.name == name) return &t.values;
  }
  return nullptr;
}

struct Inputs {
  const std::vector<double>&dy, &x, &rstd;
  const std::vector<double>*w, *residual, *dw;
};

// dx of one row. Error of the mean: every fma and add of the chain and the tree rounds once, and
// each product carries two roundings of its factors; then fma, the product with rstd, the residual,
// the rounding to dx's type.
void row(const RmsNormOp& op, const Inputs& in, std::size_t r, Expected& dx) {
  const auto n = static_cast<std::size_t>(op.n);
  const double rstd = in.rstd[r], inverse_n = static_cast<double>(1.0f / static_cast<float>(op.n));
  const auto g = [&](std::size_t i) {
    return in.dy[r * n + i] * (in.w != nullptr ? (*in.w)[i] : 1.0);
  };
  double sum = 0, magnitude = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double product = g(i) * in.x[r * n + i] * rstd;
    sum += product;
    magnitude += std::abs(product);
  }
  const double roundings = static_cast<double>(panels(op.n)) * kVector + std::log2(lanes(op.n)) + 5;
  const double mean = sum / static_cast<double>(op.n);
  const double mean_error =
      (roundings * kUnit * magnitude + kTiny * static_cast<double>(n)) * inverse_n;
  const Rounding out = rounding(op.x);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = r * n + i;
    const double xh = in.x[at] * rstd, correction = xh * mean;
    double value = rstd * (g(i) - correction);
    double bound = std::abs(rstd) * (std::abs(xh) * mean_error +
                                     4 * kUnit * (std::abs(g(i)) + std::abs(correction)));
    if (in.residual != nullptr) {
      value += (*in.residual)[at];
      bound += kUnit * (std::abs(value) + std::abs((*in.residual)[at]));
    }
    dx.values[at] = value;
    dx.bounds[at] = 1.01 * bound + out.relative * (std::abs(value) + bound) + out.absolute + kTiny;
  }
}

// dw: one rounding a row of the longest chain, one a chain, a block of a group, a group; then dw's
// type.
void columns(const RmsNormOp& op, const Inputs& in, std::int64_t rows, Expected& dw) {
  const auto n = static_cast<std::size_t>(op.n);
  std::vector<double> magnitude(n, 0.0);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      const double product = in.dy[r * n + i] * in.x[r * n + i] * in.rstd[r];
      dw.values[i] += product;
      magnitude[i] += std::abs(product);
    }
  }
  const int blocks = row_blocks(rows, op.n);
  const double chain =
      std::ceil(static_cast<double>(block_rows(split_rows(rows, op.n), tile_rows(op.n), 0)) /
                chains(op.n)) +
      1;
  const double roundings =
      chain + chains(op.n) + kBlockGroup + std::ceil(blocks / double{kBlockGroup}) + 3;
  const Rounding out = rounding(op.dw);
  for (std::size_t i = 0; i < n; ++i) {
    double bound = 1.01 * roundings * kUnit * magnitude[i] + kTiny * static_cast<double>(rows + 1);
    bound += out.relative * (std::abs(dw.values[i]) + bound) + out.absolute;
    if (op.accumulate) {
      dw.values[i] += (*in.dw)[i];
      bound += (out.relative + kUnit) * (std::abs(dw.values[i]) + bound) + out.absolute;
    }
    dw.bounds[i] = bound;
  }
}

}  // namespace

Problem problem(const Signature& signature, std::int64_t rows) {
  const RmsNormOp op = RmsNormOp::from(signature);
  Problem out;
  out.tensors = {{"dy", op.x, {rows, op.n}, Role::input, Fill::normal},
                 {"x", op.x, {rows, op.n}, Role::input, Fill::normal},
                 {"rstd", DType::f32, {rows}, Role::input, Fill::positive}};
  std::int64_t matrices = 3, bytes = 4 * rows;
  if (op.residual) {
    out.tensors.push_back({"residual", op.x, {rows, op.n}, Role::input, Fill::normal});
    ++matrices;
  }
  if (op.has_weight) {
    out.tensors.push_back({"w", op.w, {op.n}, Role::input, Fill::normal});
    bytes += op.n * (size_bytes(op.w) + size_bytes(op.dw) * (op.accumulate ? 2 : 1));
  }
  out.tensors.push_back({"dx", op.x, {rows, op.n}, Role::output, Fill::zero});
  if (op.has_weight) {
    out.tensors.push_back(
        {"dw", op.dw, {op.n}, op.accumulate ? Role::in_out : Role::output, Fill::normal});
  }
  out.floor_bytes = matrices * rows * op.n * size_bytes(op.x) + bytes;
  out.flops = 9.0 * static_cast<double>(rows) * static_cast<double>(op.n);
  return out;
}

std::vector<Expected> reference(const Signature& signature,
                                std::int64_t rows,
                                std::span<const HostTensor> tensors) {
  const RmsNormOp op = RmsNormOp::from(signature);
  const Inputs in{*find(tensors, "dy"),
                  *find(tensors, "x"),
                  *find(tensors, "rstd"),
                  find(tensors, "w"),
                  find(tensors, "residual"),
                  find(tensors, "dw")};
  std::vector<Expected> out;
  const auto elements = static_cast<std::size_t>(rows) * static_cast<std::size_t>(op.n);
  Expected& dx = out.emplace_back(
      Expected{"dx", std::vector<double>(elements), std::vector<double>(elements)});
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) row(op, in, r, dx);
  if (op.has_weight) {
    const auto n = static_cast<std::size_t>(op.n);
    columns(op,
            in,
            rows,
            out.emplace_back(Expected{"dw", std::vector<double>(n), std::vector<double>(n)}));
  }
  return out;
}

}  // namespace kiln::mix_order_reduction
