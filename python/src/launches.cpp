// Launches: any op's, bound by name; and RMSNorm backward's, packed from plain numbers in one call.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <kiln/error.hpp>
#include <kiln/rms_norm_backward.hpp>

#include "python/src/bindings.hpp"
#include "python/src/handles.hpp"
#include "python/src/rms_norm_backward_launch.hpp"
#include "python/src/stream_capture.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kiln::python {
namespace {

void run(const PyLaunch& self, std::uintptr_t stream) {
  const nb::gil_scoped_release unlocked;
  SharedLaunch& shared = *self;
  const std::lock_guard lock(shared.mutex);
  shared.launch.run(address<CUstream_st*>(stream));
}

void rebind(const PyLaunch& self, const std::vector<TensorTuple>& tensors, int ordinal) {
  const Arguments arguments = arguments_of(tensors, ordinal);
  const nb::gil_scoped_release unlocked;
  SharedLaunch& shared = *self;
  const std::lock_guard lock(shared.mutex);
  shared.launch.rebind(arguments);
}

PyLaunch clone(const PyLaunch& self) {
  const nb::gil_scoped_release unlocked;
  SharedLaunch& shared = *self;
  const std::lock_guard lock(shared.mutex);
  const RelaxedCapture relaxed;
  return PyLaunch(std::in_place, shared.launch.clone());
}

bool run_rms_norm_backward(const PyRmsNormBackward& self,
                           std::uintptr_t stream,
                           std::int64_t rows,
                           std::uintptr_t dy,
                           std::int64_t dy_stride,
                           std::uintptr_t x,
                           std::int64_t x_stride,
                           std::uintptr_t rstd,
                           std::uintptr_t w,
                           std::uintptr_t dx,
                           std::int64_t dx_stride,
                           std::uintptr_t dw,
                           std::uintptr_t residual,
                           std::int64_t residual_stride) {
  return self->run(stream,
                   {.rows = rows,
                    .dy = address<const void*>(dy),
                    .x = address<const void*>(x),
                    .rstd = address<const float*>(rstd),
                    .w = address<const void*>(w),
                    .residual = address<const void*>(residual),
                    .dx = address<void*>(dx),
                    .dw = address<void*>(dw),
                    .dy_stride = dy_stride,
                    .x_stride = x_stride,
                    .residual_stride = residual_stride,
                    .dx_stride = dx_stride});
}

}  // namespace

void define_launches(nb::module_& module) {
  module.def(
      "capturing",
      [](std::uintptr_t stream) { return stream_capture().active(address<CUstream_st*>(stream)); },
      "stream"_a);
  nb::class_<PyLaunch>(module, "Launch")
      .def("run", &run, "stream"_a)
      .def("rebind", &rebind, "tensors"_a, "ordinal"_a)
      .def("clone", &clone)
      .def("kernel_count", [](const PyLaunch& self) { return self->launch.kernel_count(); });

  nb::class_<PyRmsNormBackward>(module, "RmsNormBackward")
      .def(
          "__init__",
          [](PyRmsNormBackward* self,
             const PyPrepared& prepared,
             const std::optional<MemoryTuple>& workspace,
             const std::optional<MemoryTuple>& counters,
             bool captured) {
            new (self) PyRmsNormBackward(std::in_place, prepared, workspace, counters, captured);
          },
          "prepared"_a,
          "workspace"_a.none(),
          "counters"_a.none(),
          "captured"_a)
      .def("__call__",
           &run_rms_norm_backward,
           "stream"_a,
           "rows"_a,
           "dy"_a,
           "dy_stride"_a,
           "x"_a,
           "x_stride"_a,
           "rstd"_a,
           "w"_a,
           "dx"_a,
           "dx_stride"_a,
           "dw"_a,
           "residual"_a = 0,
           "residual_stride"_a = 0);
}

}  // namespace kiln::python
