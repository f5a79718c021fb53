// Checks of run-time tensors that every family makes, with one wording.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <kiln/arguments.hpp>

namespace kiln {

// Every failure is Error{invalid_argument} that names the op, the tensor, what it is and what it
// must be.
class TensorChecks {
 public:
  // Refuses tensors whose name is not in `known` ("dy, x, dx") and data that is not aligned to its
  // element.
  TensorChecks(std::string_view op, const Arguments& arguments, std::string_view known);

  // The tensor; data may be null only where it has no elements.
  [[nodiscard]] const Tensor* required(std::string_view name) const;
  // Null; fails when the caller gave the tensor. `why` tells what rules it out.
  [[nodiscard]] const Tensor* absent(std::string_view name, std::string_view why) const;

  void rank(const Tensor& tensor, int wanted) const;
  // Row-major with unit column stride; a row stride may exceed the columns.
  void matrix(const Tensor& tensor, DType type, std::int64_t rows, std::int64_t columns) const;
  // One matrix after another, [groups, rows, columns]: row-major with unit column stride; row
  // strides may exceed the columns, and group strides the rows.
  void matrices(const Tensor& tensor,
                DType type,
                std::int64_t groups,
                std::int64_t rows,
                std::int64_t columns) const;
  // The address and every stride but the last, in bytes, are multiples of `bytes`.
  void aligned(const Tensor& tensor, int bytes) const;
  // A number of the launch.
  void scalar(const Tensor& tensor) const;
  // Contiguous.
  void vector(const Tensor& tensor, DType type, std::int64_t size) const;
  // No output may share an element with an input or another output. Null entries are skipped. Rows
  // of two matrices with one stride may interleave.
  void no_overlap(std::span<const Tensor* const> outputs,
                  std::span<const Tensor* const> inputs) const;

  [[noreturn]] void fail(const Tensor& tensor, std::string_view what) const;

 private:
  [[nodiscard]] const Tensor* named(std::string_view name) const;
  void type(const Tensor& tensor, DType wanted) const;

  std::string_view op_;
  const Arguments& arguments_;
};

}  // namespace kiln
