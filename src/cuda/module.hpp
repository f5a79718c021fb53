// Code loaded into the driver, and what is asked about its kernels before launching them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "src/cuda/driver.hpp"

namespace kiln {

// A kernel of a module, resolved for the context that was current. Plain handles: valid while the
// module lives.
struct ModuleKernel {
  CUkern_st* kernel = nullptr;    // of every context: attributes are set through it, per device
  CUfunc_st* function = nullptr;  // of one context: launched, and asked for occupancy
};

// Owns a CUlibrary: one for all contexts and devices. The driver must outlive every call but the
// destructor.
class Module {
 public:
  Module() noexcept;
  // A cubin, or PTX (zero-terminated or not), out of memory; the bytes are not needed afterwards.
  // `what` names it in errors. Throws Error{load_failed}, with the JIT log, when the driver refuses
  // the image; Error{out_of_memory}; and Error{driver_error} for everything that is not the image's
  // fault (a lost device).
  Module(const Driver& driver, std::span<const std::byte> image, const std::string& what);
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;
  // Never throws; leaves the library loaded when the process is exiting or the driver is gone.
  ~Module();

  [[nodiscard]] explicit operator bool() const noexcept { return library_ != nullptr; }

  // Resolves an entry and loads its code into the current context now: left to the first launch,
  // lazy loading can wait for the GPU, or for ever under a persistent kernel. Throws as the
  // constructor does.
  [[nodiscard]] ModuleKernel kernel(const std::string& entry) const;

 private:
  struct JitLog;

  void unload() noexcept;
  [[noreturn]] void refuse(int result, const std::string& doing) const;

  const Driver* driver_ = nullptr;
  DriverRelease release_;
  CUlib_st* library_ = nullptr;
  std::string what_;
  std::unique_ptr<JitLog>
      log_;  // at a fixed address: the driver may write into it when it compiles PTX later
};

// Lets the kernel use that much dynamic shared memory on the device: more than 48 KiB must be asked
// for.
void allow_dynamic_smem(const Driver& driver,
                        CUkern_st* kernel,
                        int device,
                        std::int64_t smem_bytes);

// CTAs of the kernel that fit on one SM of the current context's device.
[[nodiscard]] int active_ctas_per_sm(const Driver& driver,
                                     CUfunc_st* function,
                                     int threads,
                                     std::int64_t smem_bytes);

// Clusters of the kernel that the current context's device holds at once. Not a multiple of the
// SMs: a cluster stays within a GPC, whose SMs need not divide evenly.
[[nodiscard]] int active_clusters(const Driver& driver,
                                  CUfunc_st* function,
                                  int threads,
                                  int cluster_ctas,
                                  std::int64_t smem_bytes);

}  // namespace kiln
