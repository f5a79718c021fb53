// What the service stands on: driver, compiler, store, families. The real ones in production, fakes
// in tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/policy.hpp>

#include "cache/store.hpp"
#include "kernels/family.hpp"
#include "src/core/closure.hpp"
#include "src/cuda/driver.hpp"
#include "src/cuda/nvrtc.hpp"
#include "src/cuda/toolchain.hpp"
#include "src/service/composed_images.hpp"

namespace kiln {

struct Backends {
  std::function<std::shared_ptr<const Driver>()> load_driver;
  std::function<ToolchainSearch(
      const Policy&, const std::vector<std::string>&, std::optional<int> driver_cuda_major)>
      find_toolchain;
  std::function<std::shared_ptr<const Nvrtc>(const ToolchainFiles&)> load_nvrtc;
  std::function<CompileResult(const Nvrtc&, const CompileRequest&)> compile;
  std::function<std::unique_ptr<cache::Store>(cache::StoreOptions)> make_store;
  std::function<const Family&(std::string_view op)> find_family;
  std::function<const ComposedImage*(std::string_view family, const Arch&)> find_composed;
  std::function<std::span<const EmbeddedFile>()> embedded_files;
  // What a forked child uses instead of these; empty: these.
  std::function<Backends(const Backends&, bool nvrtc_was_loaded)> after_fork{};

  [[nodiscard]] static Backends real();
};

}  // namespace kiln
