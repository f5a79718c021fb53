// Loading images and replacing those the driver refuses.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/kernel.hpp"

#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln {

LoadedImage::LoadedImage(std::shared_ptr<const Driver> driver,
                         std::span<const std::byte> image,
                         const std::string& what)
    : driver_(std::move(driver)), module_(*driver_, image, what) {
  driver_->watch_exit();
}

CUfunc_st* LoadedImage::function(const std::string& entry,
                                 const DeviceState& device,
                                 std::int64_t smem_bytes) {
  const std::lock_guard lock(mutex_);
  const ContextGuard guard(*driver_, device.context());
  const ModuleKernel kernel = module_.kernel(entry);
  std::int64_t& allowed = allowed_smem_[{entry, device.device().ordinal}];
  if (smem_bytes > allowed) {
    allow_dynamic_smem(*driver_, kernel.kernel, device.handle(), smem_bytes);
    allowed = smem_bytes;
  }
  return kernel.function;
}

Kernel::Kernel(Cubins& cubins, KernelRequest request, Obtained obtained)
    : cubins_(cubins), request_(std::move(request)), obtained_(std::move(obtained)) {}

KernelFacts Kernel::facts() const {
  const std::lock_guard lock(mutex_);
  return {.registers = obtained_.cubin.registers,
          .spill_bytes = obtained_.cubin.spill_bytes,
          .static_smem_bytes = obtained_.cubin.static_smem_bytes,
          .origin = obtained_.origin,
          .compile_ms = obtained_.compile_ms};
}

LoadedFunction Kernel::attempt(const DeviceState& device, std::int64_t smem_bytes) {
  const auto once = [&]() -> LoadedFunction {
    if (!image_) {
      image_ = std::make_shared<LoadedImage>(
          device.shared_driver(), obtained_.cubin.image, request_.closure.source.entry);
    }
    return {image_, image_->function(request_.closure.source.entry, device, smem_bytes)};
  };
  try {
    return once();
  } catch (const Error& error) {
    if (error.code != ErrorCode::out_of_memory) throw;
  }
  return once();  // another process may have let go of memory meanwhile
}

std::optional<LoadedFunction> Kernel::attempt_or_refusal(const DeviceState& device,
                                                         std::int64_t smem_bytes,
                                                         std::string& why) {
  try {
    return attempt(device, smem_bytes);
  } catch (const Error& error) {
    if (error.code != ErrorCode::load_failed) throw;
    image_.reset();
    why = error.detail;
    cubins_.count_refusal(request_, why);
    return std::nullopt;
  }
}

LoadedFunction Kernel::load(const DeviceState& device, std::int64_t smem_bytes) {
  const std::lock_guard lock(mutex_);
  std::string why = refusal_;
  if (why.empty()) {
    if (auto loaded = attempt_or_refusal(device, smem_bytes, why)) return *loaded;
    while (!obtained_.others.empty()) {
      obtained_.cubin = std::move(obtained_.others.front());
      obtained_.others.erase(obtained_.others.begin());
      if (auto loaded = attempt_or_refusal(device, smem_bytes, why)) return *loaded;
    }
    // What was compiled just now would come out the same: compiles are reproducible.
    if (request_.toolchain && obtained_.origin != Origin::compiled) {
      Obtained fresh = cubins_.replace(request_, why);
      obtained_ = std::move(fresh);
      if (auto loaded = attempt_or_refusal(device, smem_bytes, why)) {
        cubins_.keep(request_, obtained_.cubin);
        return *loaded;
      }
    }
    refusal_ = why;
    if (obtained_.origin == Origin::compiled) cubins_.remember_refusal(request_, why);
  }
  throw Error(ErrorCode::load_failed,
              fmt::format("the driver refused kernel {} of '{}' on device {} ({}): {}",
                          request_.closure.source.entry,
                          request_.signature,
                          device.device().ordinal,
                          device.device().name,
                          why));
}

}  // namespace kiln
