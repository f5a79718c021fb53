// RMSNorm backward's launch on one stream, packed from plain numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <nanobind/nanobind.h>

#include <kiln/rms_norm_backward.hpp>

#include "python/src/bound_launch.hpp"
#include "python/src/process_bound.hpp"

namespace kiln::python {

class BoundRmsNormBackward {
 public:
  BoundRmsNormBackward(const PyPrepared& prepared,
                       const std::optional<MemoryTuple>& workspace,
                       const std::optional<MemoryTuple>& counters,
                       bool captured)
      : launch_(prepared, workspace, counters, captured), op_(front_end(launch_.signature())) {}

  // As BoundLaunch::run.
  bool run(std::uintptr_t stream, const RmsNormBackward::Arguments& given) {
    const nanobind::gil_scoped_release unlocked;
    return launch_.run(stream, op_.arguments(given));
  }

 private:
  static RmsNormBackward front_end(const Signature& signature) {
    const auto type = [&](std::string_view key) { return parse_dtype(signature.value(key)); };
    return {.n = signature.integer("n"),
            .x = type("x").value_or(DType::f32),
            .w = type("w"),
            .dw = type("dw"),
            .accumulate = signature.flag("accumulate"),
            .residual = signature.flag("residual")};
  }

  BoundLaunch launch_;
  const RmsNormBackward op_;
};
using PyRmsNormBackward = ProcessBound<BoundRmsNormBackward>;

}  // namespace kiln::python
