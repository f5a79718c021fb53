// A problem with groups of every kind, and its double-precision reference with error bounds.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <kiln/error.hpp>

#include "kernels/grouped_gemm/op.hpp"

namespace kiln::grouped_gemm {
namespace {

// Fewer groups where the weights are large, so that a host can hold and check them.
std::int64_t groups_of(const GroupedGemm& gemm) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 26) / (gemm.n * gemm.k), 3, 7);
}

// End rows of groups with sizes in proportion to 7, 0, 5, 1, 2, 0, 3, the fourth with a single row;
// with enough rows, the last ones belong to no group.
std::vector<double> ends_of(std::int64_t rows, std::int64_t groups) {
  constexpr std::array<std::int64_t, 7> kShares{7, 0, 5, 1, 2, 0, 3};
  const auto count = static_cast<std::size_t>(groups);
  const std::int64_t all =
      std::accumulate(kShares.begin(), kShares.begin() + groups, std::int64_t{0});
  const std::int64_t used = rows >= 200 ? rows - 5 : rows;
  std::vector<double> ends;
  std::int64_t end = 0;
  for (std::size_t e = 0; e < count; ++e) {
    const bool single = e == 3 && used >= all;
    end += e + 1 == count ? used - end : single ? 1 : used * kShares[e] / all;
    ends.push_back(static_cast<double>(end));
  }
  return ends;
}

const HostTensor& find(std::span<const HostTensor> inputs, std::string_view name) {
  for (const HostTensor& each : inputs) {
    if (each.name == name) return each;
  }
  throw Error(ErrorCode::internal, "the reference was not given " + std::string(name));
}

// Tensor cores align 16 products and the running sum to the largest and cut: an error of at most
// 2^-22 of the sum of magnitudes a step of 16. Then one rounding to the output's type, and one more
// where the result is added to what was there.
double bound_of(double magnitude, double value, std::int64_t depth, DType out) {
  const double steps = std::ceil(static_cast<double>(depth) / 16.0) + 2.0;
  const double unit = out == DType::bf16 ? 0x1p-8 : 0x1p-24;
  return steps * 0x1p-22 * magnitude + unit * std::abs(value) + std::numeric_limits<float>::min();
}

struct Sum {
  double value = 0;
  double magnitude = 0;
  void add(double a, double b) {
    value += a * b;
    magnitude += std::abs(a * b);
  }
};

Problem problem_of(const GroupedGemm& gemm, std::int64_t rows, std::vector<double> ends) {
  Problem out;
  const auto operand = [](std::string_view name, std::vector<std::int64_t> shape, Fill fill) {
    return TensorSpec{.name = std::string(name),
                      .type = DType::bf16,
                      .shape = std::move(shape),
                      .role = Role::input,
                      .fill = fill,
                      .alignment = 16};
  };
  const auto e = static_cast<std::int64_t>(ends.size());
  const double used = ends.empty() ? 0 : ends.back();
  out.tensors.push_back(operand(gemm.a_name(), {rows, gemm.a_columns()}, Fill::normal));
  if (gemm.op == Op::wgrad) {
    out.tensors.push_back(operand("x", {rows, gemm.k}, Fill::normal));
  } else {
    out.tensors.push_back(operand("w", {e, gemm.n, gemm.k}, Fill::small));
  }
  out.tensors.push_back(
      {.name = "offs", .type = DType::i32, .shape = {e}, .values = std::move(ends)});
  std::vector<std::int64_t> shape = gemm.op == Op::wgrad
                                        ? std::vector<std::int64_t>{e, gemm.n, gemm.k}
                                        : std::vector<std::int64_t>{rows, gemm.out_columns()};
  out.tensors.push_back({.name = std::string(gemm.out_name()),
                         .type = gemm.out,
                         .shape = std::move(shape),
                         .role = gemm.accumulate ? Role::in_out : Role::output});
  out.floor_bytes = 4 * e;
  for (const TensorSpec& tensor : out.tensors) {
    std::int64_t size = size_bytes(tensor.type) * (tensor.role == Role::in_out ? 2 : 1);
    for (const std::int64_t extent : tensor.shape) size *= extent;
    if (tensor.name != "offs") out.floor_bytes += size;
  }
  out.flops = 2.0 * used * static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
  return out;
}

}  // namespace

Problem problem(const Signature& signature, std::int64_t rows) {
  const GroupedGemm gemm = GroupedGemm::from(signature);
  return problem_of(gemm, rows, ends_of(rows, groups_of(gemm)));
}

Problem grouped_problem(const Signature& signature,
                        std::int64_t rows,
                        std::span<const std::int64_t> sizes) {
  std::vector<double> ends;
  double end = 0;
  for (const std::int64_t size : sizes) ends.push_back(end += static_cast<double>(size));
  return problem_of(GroupedGemm::from(signature), rows, std::move(ends));
}

namespace {

// forward: the reduction runs along rows of both; dgrad: down the columns of w.
void multiply_rows(const GroupedGemm& gemm,
                   const HostTensor& a,
                   const HostTensor& w,
                   std::int64_t group,
                   std::int64_t row,
                   Expected& out) {
  const std::int64_t columns = gemm.out_columns(), depth = gemm.a_columns();
  std::vector<Sum> sums(static_cast<std::size_t>(columns));
  const double* from = a.values.data() + row * depth;
  const double* matrix = w.values.data() + group * gemm.n * gemm.k;
  for (std::int64_t c = 0; c < columns; ++c) {
    if (gemm.op == Op::dgrad) break;
    for (std::int64_t d = 0; d < depth; ++d)
      sums[static_cast<std::size_t>(c)].add(from[d], matrix[c * gemm.k + d]);
  }
  for (std::int64_t d = 0; d < depth; ++d) {
    if (gemm.op == Op::forward) break;
    for (std::int64_t c = 0; c < columns; ++c)
      sums[static_cast<std::size_t>(c)].add(from[d], matrix[d * gemm.k + c]);
  }
  for (std::int64_t c = 0; c < columns; ++c) {
    const Sum& sum = sums[static_cast<std::size_t>(c)];
    const auto at = static_cast<std::size_t>(row * columns + c);
    out.values[at] = sum.value;
    out.bounds[at] = bound_of(sum.magnitude, sum.value, depth, gemm.out);
  }
}

void add_group(const GroupedGemm& gemm,
               const HostTensor& g,
               const HostTensor& x,
               std::int64_t group,
               std::int64_t first,
               std::int64_t end,
               const HostTensor* before,
               Expected& out) {
  std::vector<Sum> sums(static_cast<std::size_t>(gemm.k));
  for (std::int64_t n = 0; n < gemm.n; ++n) {
    std::fill(sums.begin(), sums.end(), Sum{});
    for (std::int64_t row = first; row < end; ++row) {
      const double value = g.values[static_cast<std::size_t>(row * gemm.n + n)];
      const double* from = x.values.data() + row * gemm.k;
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k].add(value, from[k]);
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const std::size_t at = static_cast<std::size_t>(group * gemm.n + n) * sums.size() + k;
      const double old = before == nullptr ? 0.0 : before->values[at];
      out.values[at] = sums[k].value + old;
      out.bounds[at] = bound_of(sums[k].magnitude, sums[k].value, end - first, gemm.out) +
                       (before == nullptr ? 0.0 : bound_of(0, out.values[at], 0, gemm.out));
    }
  }
}

}  // namespace

std::vector<Expected> reference(const Signature& signature,
                                std::int64_t rows,
                                std::span<const HostTensor> inputs) {
  const GroupedGemm gemm = GroupedGemm::from(signature);
  const HostTensor& a = find(inputs, gemm.a_name());
  const HostTensor& b = find(inputs, gemm.b_name());
  const HostTensor& offs = find(inputs, "offs");
  const HostTensor* before = gemm.accumulate ? &find(inputs, "dw") : nullptr;
  const auto groups = static_cast<std::int64_t>(offs.values.size());
  Expected out{std::string(gemm.out_name()), {}, {}};
  // Rows that belong to no group stay as they were: poisoned with NaN.
  const std::int64_t size =
      gemm.op == Op::wgrad ? groups * gemm.n * gemm.k : rows * gemm.out_columns();
  out.values.assign(static_cast<std::size_t>(size), std::numeric_limits<double>::quiet_NaN());
  out.bounds.assign(static_cast<std::size_t>(size), 0.0);
  std::int64_t first = 0;
  for (std::int64_t group = 0; group < groups; ++group) {
    const auto end = static_cast<std::int64_t>(offs.values[static_cast<std::size_t>(group)]);
    if (gemm.op == Op::wgrad) {
      add_group(gemm, a, b, group, first, end, before, out);
    } else {
      for (std::int64_t row = first; row < end; ++row) multiply_rows(gemm, a, b, group, row, out);
    }
    first = end;
  }
  return {out};
}

}  // namespace kiln::grouped_gemm
