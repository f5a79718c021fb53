// Kernels in the driver: images, their functions, and one digest's way from cubin to function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "src/cuda/module.hpp"
#include "src/service/device_state.hpp"
#include "src/service/obtain.hpp"

namespace kiln {

// An image loaded once, for every device it runs on. Unloaded with the last handle.
class LoadedImage {
 public:
  // Throws as Module does: Error{load_failed} for an image the driver refuses, {out_of_memory},
  // {driver_error}.
  LoadedImage(std::shared_ptr<const Driver> driver,
              std::span<const std::byte> image,
              const std::string& what);

  // The entry in the device's context, allowed at least so much dynamic shared memory. Throws like
  // the constructor.
  [[nodiscard]] CUfunc_st* function(const std::string& entry,
                                    const DeviceState& device,
                                    std::int64_t smem_bytes);

 private:
  std::shared_ptr<const Driver> driver_;  // outlives the module
  Module module_;
  std::mutex mutex_;
  // Dynamic shared memory allowed so far, an entry and a device: only raised, since plans share
  // composed kernels.
  std::map<std::pair<std::string, int>, std::int64_t> allowed_smem_;
};

struct LoadedFunction {
  std::shared_ptr<LoadedImage> image;  // keeps the function loaded
  CUfunc_st* function = nullptr;
};

// What the compiler said about a kernel, and where it came from.
struct KernelFacts {
  int registers = 0;
  std::int64_t spill_bytes = 0;
  std::int64_t static_smem_bytes = 0;
  Origin origin = Origin::none;
  double compile_ms = 0;
};

// One digest in this process.
class Kernel {
 public:
  Kernel(Cubins& cubins, KernelRequest request, Obtained obtained);

  [[nodiscard]] KernelFacts facts() const;

  // The function on a device. A cubin that the driver refuses is replaced: by one of another
  // toolchain where nothing can be compiled, else quarantined and compiled once more. Out of memory
  // is tried twice. Throws Error{load_failed}, {out_of_memory}, {driver_error}.
  [[nodiscard]] LoadedFunction load(const DeviceState& device, std::int64_t smem_bytes);

 private:
  [[nodiscard]] LoadedFunction attempt(const DeviceState& device, std::int64_t smem_bytes);
  // The same, without a throw when the driver refuses the image: then `why` says so.
  [[nodiscard]] std::optional<LoadedFunction> attempt_or_refusal(const DeviceState& device,
                                                                 std::int64_t smem_bytes,
                                                                 std::string& why);

  Cubins& cubins_;
  const KernelRequest request_;
  mutable std::mutex mutex_;
  Obtained obtained_;
  std::shared_ptr<LoadedImage> image_;
  std::string refusal_;  // the driver refused a fresh cubin too: not tried again in this process
};

}  // namespace kiln
