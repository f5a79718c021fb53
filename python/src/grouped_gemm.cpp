// Launches of the grouped GEMMs, packed from plain numbers in one call.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string_view>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <kiln/dtype.hpp>

#include "python/src/bindings.hpp"
#include "python/src/bound_launch.hpp"
#include "python/src/handles.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kiln::python {
namespace {

// A matrix, or one a group.
struct Operand {
  std::uintptr_t data = 0;
  std::int64_t row_stride = 0;
  std::int64_t group_stride = 0;
};

struct Numbers {
  std::int64_t rows = 0;
  std::int64_t groups = 0;
  std::uintptr_t offs = 0;
  std::int64_t offs_size = 0;
  Operand a, b, out;
};

// The tensors as the ops name them; kernels/grouped_gemm checks them.
class BoundGroupedGemm {
 public:
  BoundGroupedGemm(const PyPrepared& prepared,
                   const std::optional<MemoryTuple>& workspace,
                   const std::optional<MemoryTuple>& counters,
                   bool captured)
      : launch_(prepared, workspace, counters, captured),
        n_(launch_.signature().integer("n")),
        k_(launch_.signature().integer("k")),
        out_(parse_dtype(launch_.signature().value("out")).value_or(DType::bf16)) {}

  bool run(std::uintptr_t stream, const Numbers& given) {
    const nb::gil_scoped_release unlocked;
    return launch_.run(stream, arguments(given));
  }

 private:
  [[nodiscard]] Arguments arguments(const Numbers& given) const {
    const std::string_view op = launch_.signature().op;
    Arguments all;
    if (op == "grouped_gemm_forward") {
      all.add(rows_of("x", given, given.a, DType::bf16, k_));
      all.add(groups_of("w", given, given.b, DType::bf16));
      all.add(rows_of("y", given, given.out, out_, n_));
    } else if (op == "grouped_gemm_dgrad") {
      all.add(rows_of("g", given, given.a, DType::bf16, n_));
      all.add(groups_of("w", given, given.b, DType::bf16));
      all.add(rows_of("dx", given, given.out, out_, k_));
    } else {
      all.add(rows_of("g", given, given.a, DType::bf16, n_));
      all.add(rows_of("x", given, given.b, DType::bf16, k_));
      all.add(groups_of("dw", given, given.out, out_));
    }
    all.add(vector("offs", address<void*>(given.offs), DType::i32, given.offs_size));
    return all;
  }

  static Tensor rows_of(std::string_view name,
                        const Numbers& given,
                        const Operand& operand,
                        DType type,
                        std::int64_t columns) {
    return matrix(
        name, address<void*>(operand.data), type, given.rows, columns, operand.row_stride);
  }

  [[nodiscard]] Tensor groups_of(std::string_view name,
                                 const Numbers& given,
                                 const Operand& operand,
                                 DType type) const {
    return {name,
            address<void*>(operand.data),
            type,
            3,
            {given.groups, n_, k_, 0},
            {operand.group_stride, operand.row_stride, 1, 0}};
  }

  BoundLaunch launch_;
  const std::int64_t n_;
  const std::int64_t k_;
  const DType out_;
};
using PyGroupedGemm = ProcessBound<BoundGroupedGemm>;

bool run(const PyGroupedGemm& self,
         std::uintptr_t stream,
         std::int64_t rows,
         std::int64_t groups,
         std::uintptr_t offs,
         std::int64_t offs_size,
         std::uintptr_t a,
         std::int64_t a_stride,
         std::uintptr_t b,
         std::int64_t b_stride,
         std::int64_t b_group_stride,
         std::uintptr_t out,
         std::int64_t out_stride,
         std::int64_t out_group_stride) {
  return self->run(stream,
                   {.rows = rows,
                    .groups = groups,
                    .offs = offs,
                    .offs_size = offs_size,
                    .a = {.data = a, .row_stride = a_stride},
                    .b = {b, b_stride, b_group_stride},
                    .out = {out, out_stride, out_group_stride}});
}

}  // namespace

void define_grouped_gemm(nb::module_& module) {
  nb::class_<PyGroupedGemm>(module, "GroupedGemm")
      .def(
          "__init__",
          [](PyGroupedGemm* self,
             const PyPrepared& prepared,
             const std::optional<MemoryTuple>& workspace,
             const std::optional<MemoryTuple>& counters,
             bool captured) {
            new (self) PyGroupedGemm(std::in_place, prepared, workspace, counters, captured);
          },
          "prepared"_a,
          "workspace"_a.none(),
          "counters"_a.none(),
          "captured"_a)
      .def("__call__",
           &run,
           "stream"_a,
           "rows"_a,
           "groups"_a,
           "offs"_a,
           "offs_size"_a,
           "a"_a,
           "a_stride"_a,
           "b"_a,
           "b_stride"_a,
           "b_group_stride"_a,
           "out"_a,
           "out_stride"_a,
           "out_group_stride"_a);
}

}  // namespace kiln::python
