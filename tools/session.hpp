// What every verb starts from: the service's options and the architectures a request names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/service.hpp>

namespace kiln::cli {

// Policy from the environment and NVIDIA's wheel beside the build. Throws Error{invalid_policy}.
[[nodiscard]] Options service_options();

// "sm_90a" or "native", which stands for every GPU of this machine; an empty list is native.
// Without repetitions, in order. Says on stderr when a name was resolved to another. Throws
// Error{unknown_arch} or, for native, Error{driver_missing} or Error{device_missing}.
[[nodiscard]] std::vector<Arch> resolve_archs(const std::vector<std::string>& names,
                                              Service& service);

}  // namespace kiln::cli
