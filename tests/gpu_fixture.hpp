// What the GPU tests of kernels share: one device, services of every route and stage policy, the
// signatures to run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <kiln/service.hpp>

#include "src/cuda/driver.hpp"
#include "tools/verify/device.hpp"
#include "tools/verify/device_case.hpp"

namespace kiln::testing {

struct Gpu {
  Gpu();

  Driver driver;
  verify::CurrentDevice current;
  verify::Stream stream;
  Service one_stage;    // the default policy
  Service many_stages;  // KILN_ALLOW_MULTI_STAGES
  Service composed;
  Device device;
};

// Made when first asked for: kernels are compiled once for all tests of the binary.
[[nodiscard]] Gpu& gpu();

// Every sample of every family and every kernel of the models' recipe, without repetitions.
[[nodiscard]] const std::vector<Signature>& signatures();

// A way to run a signature.
struct Variant {
  std::string name;
  Prepared prepared;
};
// One stage, many stages (when the plan differs), composed.
[[nodiscard]] std::vector<Variant> variants(const Signature& signature);

// A seed from the system, the same for the whole binary, printed once.
[[nodiscard]] std::uint64_t seed();

}  // namespace kiln::testing
