// Service and Prepared.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.hpp"
#include "python/src/handles.hpp"
#include "python/src/stream_capture.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kiln::python {
namespace {

// nb::gil_scoped_release in every call that may compile, load or wait for another thread that does.
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

PyService make_service(std::vector<std::string> nvrtc_folders, bool composed) {
  Options options;
  options.policy = Policy::from_env();
  options.nvrtc_folders = std::move(nvrtc_folders);
  if (composed) options.route = RouteChoice::composed;
  return PyService(std::in_place, std::move(options));
}

std::string plan(const PyService& self, const std::string& signature, const std::string& arch) {
  return self->plan(Signature::parse(signature), Arch::parse(arch)).json();
}

PyPrepared prepare(const PyService& self, const std::string& signature, int ordinal) {
  const Signature parsed = Signature::parse(signature);
  const RelaxedCapture relaxed;
  return PyPrepared(std::in_place, self->prepare(parsed, self->device(ordinal)));
}

PyPrepared prepare_for_arch(const PyService& self,
                            const std::string& signature,
                            const std::string& arch) {
  return PyPrepared(std::in_place, self->prepare(Signature::parse(signature), Arch::parse(arch)));
}

nb::dict statistics(const PyService& self) {
  const Statistics counted = self->statistics();
  nb::dict out;
  out["memory_hits"] = counted.memory_hits;
  out["cache_hits"] = counted.cache_hits;
  out["layer_hits"] = counted.layer_hits;
  out["compiles"] = counted.compiles;
  out["fallbacks"] = counted.fallbacks;
  out["nvrtc_loaded"] = counted.nvrtc_loaded;
  return out;
}

void define_prepared(nb::module_& module) {
  nb::class_<PyPrepared>(module, "Prepared")
      .def("plan_json", [](const PyPrepared& self) { return self->plan().json(); })
      .def("ordinal", [](const PyPrepared& self) { return self->device().ordinal; })
      .def("workspace_bytes", [](const PyPrepared& self) { return self->plan().workspace_bytes; })
      .def("bind", &bind_launch, "tensors"_a, "workspace"_a = nb::none(), "sm_limit"_a = 0);
}

}  // namespace

void define_service(nb::module_& module) {
  define_prepared(module);
  nb::class_<PyService>(module, "Service")
      .def(
          "__init__",
          [](PyService* self, std::vector<std::string> nvrtc_folders, bool composed) {
            new (self) PyService(make_service(std::move(nvrtc_folders), composed));
          },
          "nvrtc_folders"_a,
          "composed"_a = false)
      .def("plan", &plan, "signature"_a, "arch"_a, Unlocked())
      .def("prepare", &prepare, "signature"_a, "ordinal"_a, Unlocked())
      .def("prepare_for_arch", &prepare_for_arch, "signature"_a, "arch"_a, Unlocked())
      .def("cache_dir", [](const PyService& self) { return self->options().policy.cache_dir; })
      .def("check_offsets",
           [](const PyService& self) { return self->options().policy.check_offsets; })
      .def("statistics", &statistics);
}

}  // namespace kiln::python
