// Pure functions on signatures and architectures, and reading recipes.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <kiln/arch.hpp>
#include <kiln/described_op.hpp>
#include <kiln/signature.hpp>

#include "kernels/family.hpp"
#include "python/src/bindings.hpp"
#include "src/cuda/device.hpp"
#include "tools/recipe.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kiln::python {
namespace {

std::string canonical(const std::string& signature) { return Signature::parse(signature).text(); }

std::string register_op(const std::string& path) { return register_op_file(path); }

std::string canonical_json(const std::string& json) { return Signature::parse_json(json).text(); }

std::string arch(const std::string& text) { return Arch::parse(text).text(); }

std::vector<std::string> known_archs() {
  std::vector<std::string> names;
  for (const DeviceLimits& limits : known_limits()) names.push_back(limits.arch.text());
  return names;
}

// These two make no context, so no device memory is used: asking is free.
int current_device() { return current_ordinal(Driver::load()); }

std::string device_arch(int ordinal) {
  const Driver driver = Driver::load();
  return device_properties(driver, ordinal).limits.arch.text();
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::input:
      return "input";
    case Role::output:
      return "output";
    case Role::in_out:
      return "in_out";
  }
  return "input";
}

std::vector<std::pair<std::string, std::string>> tensor_roles(const std::string& text) {
  const Signature signature = Signature::parse(text);
  std::vector<std::pair<std::string, std::string>> roles;
  for (const TensorSpec& tensor : find_family(signature.op).problem(signature, 1).tensors) {
    roles.emplace_back(tensor.name, role_name(tensor.role));
  }
  return roles;
}

using RecipeRow = std::tuple<std::string, std::string, int>;  // signature, model, line
using RecipeFault = std::pair<int, std::string>;              // line, what is wrong

std::pair<std::vector<RecipeRow>, std::vector<RecipeFault>> recipe(const std::string& path) {
  std::pair<std::vector<RecipeRow>, std::vector<RecipeFault>> out;
  const Recipe read = read_recipe(path);
  for (const RecipeEntry& entry : read.entries) {
    out.first.emplace_back(entry.signature.text(), entry.model, entry.line);
  }
  for (const RecipeProblem& problem : read.problems) {
    out.second.emplace_back(problem.line, problem.detail);
  }
  return out;
}

std::string type_name(const nb::dlpack::dtype& type) {
  const auto named = [&](nb::dlpack::dtype_code code) {
    return type.code == static_cast<std::uint8_t>(code);
  };
  const char* letter = named(nb::dlpack::dtype_code::Float)    ? "f"
                       : named(nb::dlpack::dtype_code::Bfloat) ? "bf"
                       : named(nb::dlpack::dtype_code::Int)    ? "i"
                       : named(nb::dlpack::dtype_code::UInt)   ? "u"
                                                               : "code";
  return letter + std::to_string(int{type.bits});
}

// Pointer, shape, strides in elements, type, device index (-1 for memory that is not CUDA's) of an
// object with DLPack or the buffer protocol.
nb::tuple describe(const nb::ndarray<nb::ro>& array) {
  nb::list shape;
  nb::list strides;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape.append(array.shape(i));
    strides.append(array.stride(i));
  }
  const bool cuda = array.device_type() == nb::device::cuda::value ||
                    array.device_type() == nb::device::cuda_managed::value;
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()),
                        nb::tuple(shape),
                        nb::tuple(strides),
                        type_name(array.dtype()),
                        cuda ? array.device_id() : -1);
}

}  // namespace

void define_values(nb::module_& module) {
  module.def("canonical", &canonical, "signature"_a);
  module.def("canonical_json", &canonical_json, "json"_a);
  module.def("register_op", &register_op, "path"_a);
  module.def("arch", &arch, "text"_a);
  module.def("known_archs", &known_archs);
  module.def("current_device", &current_device);
  module.def("device_arch", &device_arch, "ordinal"_a);
  module.def("tensor_roles", &tensor_roles, "signature"_a);
  module.def("read_recipe", &recipe, "path"_a);
  module.def("describe", &describe, "array"_a);
}

}  // namespace kiln::python
