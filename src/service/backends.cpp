// The production backends: dlopened driver and NVRTC, the store on disk, the generated lists.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/backends.hpp"

#include <utility>

#include "src/service/compile_worker.hpp"

namespace kiln {

Backends Backends::real() {
  return {
      .load_driver = [] { return std::make_shared<const Driver>(Driver::load()); },
      .find_toolchain = &kiln::find_toolchain,
      .load_nvrtc =
          [](const ToolchainFiles& files) {
            return std::make_shared<const Nvrtc>(Nvrtc::load(files));
          },
      .compile = [](const Nvrtc& nvrtc,
                    const CompileRequest& request) { return kiln::compile(nvrtc, request); },
      .make_store =
          [](cache::StoreOptions options) {
            return std::make_unique<cache::Store>(std::move(options));
          },
      .find_family = [](std::string_view op) -> const Family& { return kiln::find_family(op); },
      .find_composed = &kiln::find_composed,
      .embedded_files = &kiln::embedded_files,
      .after_fork = &kiln::after_fork,
  };
}

}  // namespace kiln
