// The module _kiln: the C++ API for the Python package of the same name, which is its only user.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <kiln/service.hpp>

#include "python/src/bindings.hpp"

namespace nb = nanobind;

NB_MODULE(_kiln, module) {
  module.doc() = "kiln's C++ API; use the package kiln.";
  // What caches of a process keep until its end is no leak worth a message.
  nb::set_leak_warnings(false);
  kiln::python::translate_errors(module);
  kiln::python::define_values(module);
  kiln::python::define_service(module);
  kiln::python::define_launches(module);
  kiln::python::define_seen_calls(module);
  kiln::python::define_grouped_gemm(module);
  module.def("version", [] { return std::string(kiln::version()); });
}
