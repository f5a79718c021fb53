// The parts of the module _kiln; each file defines one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace kiln::python {

// kiln::Error becomes kiln.Error, with its code and message.
void translate_errors(nanobind::module_& module);
// Signatures, architectures, recipes: plain functions.
void define_values(nanobind::module_& module);
// Service and Prepared.
void define_service(nanobind::module_& module);
// Launch, and RmsNormBackward, which packs its arguments in one call.
void define_launches(nanobind::module_& module);
// RmsNormBackwardCalls: calls like one that was seen.
void define_seen_calls(nanobind::module_& module);
// GroupedGemm, likewise.
void define_grouped_gemm(nanobind::module_& module);

}  // namespace kiln::python
