// C++ exceptions as Python exceptions that carry the same code and message.
// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string>

#include <kiln/error.hpp>

#include "python/src/bindings.hpp"

namespace nb = nanobind;

namespace kiln::python {
namespace {

// kiln._errors chooses the class, so that the hierarchy is written in one place.
void raise(const Error& error) {
  const std::string code(to_string(error.code));
  nb::object exception =
      nb::module_::import_("kiln._errors").attr("from_code")(code.c_str(), error.detail.c_str());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

void translate_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      raise(error);
    }
  });
}

}  // namespace kiln::python
