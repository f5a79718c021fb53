// Source and compilation of the timing kernels.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/timing_kernels.hpp"

#include <string_view>

#include <kiln/error.hpp>

#include "src/core/closure.hpp"
#include "src/core/digest.hpp"
#include "src/cuda/nvrtc.hpp"
#include "src/cuda/toolchain.hpp"

namespace kiln::verify {
namespace {

// The sum is written only where it has a value that zeros never give, so the reads must happen and
// the buffer stays clean.
constexpr std::string_view kKernels = R"cuda(
extern "C" __global__ void kiln_read(const uint4* data, long long count, unsigned* sink) {
  unsigned sum = 0;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 value = data[i];
    sum += value.x ^ value.y ^ value.z ^ value.w;
  }
  if (sum == 0x5eed5eedu) *sink = sum;
}

extern "C" __global__ void kiln_spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
)cuda";

}  // namespace

Cubin compile_timing_kernels(const Arch& arch,
                             const Policy& policy,
                             const std::vector<std::string>& nvrtc_folders,
                             std::optional<int> driver_cuda_major) {
  const ToolchainSearch search = find_toolchain(policy, nvrtc_folders, driver_cuda_major);
  if (!search.found) {
    throw Error(ErrorCode::nvrtc_missing,
                "timing needs NVRTC for its cache-evicting kernel, and none was found; `kiln "
                "doctor` says what was "
                "tried");
  }
  const Nvrtc nvrtc = Nvrtc::load(*search.found);
  const Closure closure = close_includes(Source{std::string(kKernels), kReadKernel}, {});
  const CompileOptions options = CompileOptions::standard();
  const std::string seed = hex(sha256(kKernels)).substr(0, 16);
  return compile(nvrtc, {closure, options, arch, seed}).cubin;
}

}  // namespace kiln::verify
