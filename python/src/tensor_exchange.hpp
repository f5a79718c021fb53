// Reading a framework's tensors through the table of C functions that DLPack 1.2 and later let a
// tensor type publish: a few nanoseconds a tensor, where attributes in Python cost a microsecond.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace kiln::python {

// What DLPack calls DLTensor. It describes memory for as long as the tensor lives.
using TensorView = nanobind::dlpack::dltensor;

struct ExchangeTable;

class TensorExchange {
 public:
  // Of a type that publishes a table, and a subclass that may stand for it: torch.Tensor and
  // torch.nn.Parameter. Without a table of a known version nothing can be read.
  TensorExchange(nanobind::handle type, nanobind::handle subclass);

  [[nodiscard]] bool usable() const noexcept { return table_ != nullptr; }
  // Both leave no Python exception behind, and want the interpreter's lock. Nothing where the
  // object is of another type, or has no memory of its own.
  [[nodiscard]] std::optional<TensorView> read(nanobind::handle object) const noexcept;
  // The framework's current CUDA stream.
  [[nodiscard]] std::optional<std::uintptr_t> stream(int ordinal) const noexcept;

 private:
  std::array<nanobind::object, 2> types_;
  const ExchangeTable* table_ = nullptr;
};

}  // namespace kiln::python
