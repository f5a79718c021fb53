// CUlaunchConfig and its attributes.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/launch.hpp"

#include <cuda.h>

#include <cstring>

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln {
namespace {

// grid.x is 31 bits, y and z are 16: of every compute capability.
constexpr unsigned kMostGridX = 2'147'483'647;
constexpr unsigned kMostGridYZ = 65'535;
constexpr unsigned kMostThreads = 1024;

void check_shape(const LaunchShape& shape) {
  const auto& grid = shape.grid;
  const bool grid_fits = grid[0] >= 1 && grid[0] <= kMostGridX && grid[1] >= 1 &&
                         grid[1] <= kMostGridYZ && grid[2] >= 1 && grid[2] <= kMostGridYZ;
  const bool cta_fits =
      shape.threads >= 1 && shape.threads <= kMostThreads && shape.smem_bytes >= 0;
  const bool clusters_fit = shape.cluster_ctas >= 1 && grid[0] % shape.cluster_ctas == 0;
  if (grid_fits && cta_fits && clusters_fit) return;
  throw Error(
      ErrorCode::internal,
      fmt::format("no device launches a grid of {} x {} x {} CTAs of {} threads and {} bytes "
                  "of shared memory in clusters of {}",
                  grid[0],
                  grid[1],
                  grid[2],
                  shape.threads,
                  shape.smem_bytes,
                  shape.cluster_ctas));
}

}  // namespace

PackedLaunch::PackedLaunch(const Driver& driver, CUfunc_st* function, const LaunchShape& shape)
    : launch_(driver.launch), function_(function), shape_(shape) {
  static_assert(sizeof(CUlaunchAttribute) == kAttributeBytes && alignof(CUlaunchAttribute) <= 8,
                "attributes_ must hold two CUlaunchAttribute");
  check_shape(shape);
  const auto add = [this](const CUlaunchAttribute& attribute) {
    std::memcpy(
        attributes_.data() + attribute_count_ * kAttributeBytes, &attribute, kAttributeBytes);
    ++attribute_count_;
  };
  if (shape.cooperative) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    add(attribute);
  }
  if (shape.cluster_ctas > 1) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = shape.cluster_ctas;
    attribute.value.clusterDim.y = 1;
    attribute.value.clusterDim.z = 1;
    add(attribute);
  }
}

int PackedLaunch::run(CUstream_st* stream, const void* parameters) const noexcept {
  // Built here, on the stack: the stream is in it, and a pointer into this object would break
  // copies.
  CUlaunchConfig config{};
  config.gridDimX = shape_.grid[0];
  config.gridDimY = shape_.grid[1];
  config.gridDimZ = shape_.grid[2];
  config.blockDimX = shape_.threads;
  config.blockDimY = 1;
  config.blockDimZ = 1;
  config.sharedMemBytes = static_cast<unsigned>(shape_.smem_bytes);
  config.hStream = stream;
  config.attrs = reinterpret_cast<CUlaunchAttribute*>(const_cast<std::byte*>(attributes_.data()));
  config.numAttrs = attribute_count_;
  void* pointers[] = {const_cast<void*>(parameters)};
  return launch_(&config, function_, pointers, nullptr);
}

void launch(const Driver& driver,
            CUfunc_st* function,
            const LaunchShape& shape,
            CUstream_st* stream,
            const void* parameters) {
  driver.check(PackedLaunch(driver, function, shape).run(stream, parameters), "launching a kernel");
}

}  // namespace kiln
