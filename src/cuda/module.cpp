// cuLibraryLoadData and what follows it.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/module.hpp"

#include <cuda.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/cuda/elf.hpp"

namespace kiln {

struct Module::JitLog {
  std::array<char, 16 * 1024> text{};
};

namespace {

// The image's fault (or the driver's, for this image): another image, or the composed route, may
// still work.
bool is_image_error(int result) {
  switch (result) {
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND:
    case CUDA_ERROR_SHARED_OBJECT_INIT_FAILED:
    case CUDA_ERROR_NOT_FOUND:
      return true;
    default:
      return false;
  }
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Module::Module() noexcept = default;

Module::Module(const Driver& driver, std::span<const std::byte> image, const std::string& what)
    : driver_(&driver), release_(driver.release()), what_(what), log_(std::make_unique<JitLog>()) {
  const std::string_view text = as_text(image);
  const bool is_elf = text.starts_with(
      "\x7f"
      "ELF");
  // The driver is told no size: it reads as far as the headers say, or to the terminating zero.
  if (is_elf && elf_functions(text).empty()) {
    throw Error(
        ErrorCode::load_failed,
        fmt::format(
            "{}: the cubin of {} bytes is damaged or defines no kernel", what, image.size()));
  }
  std::string terminated;
  const void* code = image.data();
  if (!is_elf && (text.empty() || text.back() != '\0')) {
    terminated = text;
    code = terminated.c_str();
  }
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{
      log_->text.data(),
      reinterpret_cast<void*>(static_cast<std::uintptr_t>(log_->text.size() - 1))};
  const int result = driver.library_load(&library_,
                                         code,
                                         options.data(),
                                         values.data(),
                                         static_cast<unsigned>(options.size()),
                                         nullptr,
                                         nullptr,
                                         0);
  if (result != CUDA_SUCCESS) {
    library_ = nullptr;
    refuse(result, "loading " + what_);
  }
}

Module::Module(Module&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)),
      release_(other.release_),
      library_(std::exchange(other.library_, nullptr)),
      what_(std::move(other.what_)),
      log_(std::move(other.log_)) {}

Module& Module::operator=(Module&& other) noexcept {
  if (this == &other) return *this;
  unload();
  driver_ = std::exchange(other.driver_, nullptr);
  release_ = other.release_;
  library_ = std::exchange(other.library_, nullptr);
  what_ = std::move(other.what_);
  log_ = std::move(other.log_);
  return *this;
}

Module::~Module() { unload(); }

void Module::unload() noexcept {
  // A failure here (a driver that is shutting down, a lost device) leaves nothing that we could do
  // better.
  if (library_ != nullptr && release_.library_unload != nullptr && release_.allowed()) {
    (void)release_.library_unload(library_);
  }
  library_ = nullptr;
}

void Module::refuse(int result, const std::string& doing) const {
  if (!is_image_error(result)) driver_->check(result, doing.c_str());
  std::string detail = fmt::format("{}: {}", doing, driver_->describe(result));
  const std::string_view log(log_->text.data(), ::strnlen(log_->text.data(), log_->text.size()));
  if (!log.empty()) detail += fmt::format("\nthe driver's log:\n{}", log);
  throw Error(ErrorCode::load_failed, detail);
}

ModuleKernel Module::kernel(const std::string& entry) const {
  if (library_ == nullptr)
    throw Error(ErrorCode::internal, "a kernel was asked of an empty module");
  ModuleKernel found;
  int result = driver_->library_kernel(&found.kernel, library_, entry.c_str());
  if (result != CUDA_SUCCESS) refuse(result, fmt::format("finding kernel {} in {}", entry, what_));
  result = driver_->kernel_function(&found.function, found.kernel);
  if (result != CUDA_SUCCESS) refuse(result, fmt::format("loading kernel {} of {}", entry, what_));
  return found;
}

void allow_dynamic_smem(const Driver& driver,
                        CUkern_st* kernel,
                        int device,
                        std::int64_t smem_bytes) {
  const int result = driver.kernel_set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                 static_cast<int>(smem_bytes),
                                                 kernel,
                                                 device);
  if (result == CUDA_SUCCESS) return;
  const std::string doing =
      fmt::format("allowing a kernel {} bytes of shared memory on device {}", smem_bytes, device);
  driver.check(result, doing.c_str());
}

int active_ctas_per_sm(const Driver& driver,
                       CUfunc_st* function,
                       int threads,
                       std::int64_t smem_bytes) {
  int count = 0;
  driver.check(driver.occupancy(&count, function, threads, static_cast<std::size_t>(smem_bytes), 0),
               "asking how many CTAs fit on an SM");
  return count;
}

int active_clusters(const Driver& driver,
                    CUfunc_st* function,
                    int threads,
                    int cluster_ctas,
                    std::int64_t smem_bytes) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = static_cast<unsigned>(cluster_ctas);
  attribute.value.clusterDim.y = 1;
  attribute.value.clusterDim.z = 1;
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(cluster_ctas);
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = static_cast<unsigned>(threads);
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = static_cast<unsigned>(smem_bytes);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int count = 0;
  driver.check(driver.occupancy_clusters(&count, function, &config),
               "asking how many clusters fit on the device");
  return count;
}

}  // namespace kiln
