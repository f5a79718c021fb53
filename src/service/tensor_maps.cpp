// Encoding tensor maps.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/tensor_maps.hpp"

#include <cuda.h>

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln {
namespace {

int driver_type(DType type) {
  switch (type) {
    case DType::f32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::i32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
  }
  throw Error(ErrorCode::internal, "a tensor map of an unknown type");
}

void encode(const Driver& driver, const TensorMapRequest& request, KernelCall& call) {
  if (request.offset % 64 != 0 || request.offset + sizeof(CUtensorMap) > call.parameter_bytes) {
    throw Error(ErrorCode::internal,
                fmt::format("a tensor map at byte {} of {} bytes of parameters",
                            request.offset,
                            call.parameter_bytes));
  }
  constexpr std::array<unsigned, 3> kEveryElement{1, 1, 1};
  const int result = driver.tensor_map_encode(
      call.parameters.data() + request.offset,
      driver_type(request.type),
      static_cast<unsigned>(request.rank),
      const_cast<void*>(request.data),
      request.shape.data(),
      request.strides.data(),
      request.box.data(),
      kEveryElement.data(),
      CU_TENSOR_MAP_INTERLEAVE_NONE,
      request.swizzle ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return;
  driver.check(result,
               fmt::format("encoding a tensor map of [{}, {}, {}] (fastest first, rank {}) at {}",
                           request.shape[0],
                           request.shape[1],
                           request.shape[2],
                           request.rank,
                           fmt::ptr(request.data))
                   .c_str());
}

}  // namespace

void encode_tensor_maps(const DeviceState& device, KernelCall& call) {
  if (call.tensor_map_count == 0) return;
  const Driver& driver = device.driver();
  // The driver refuses a thread that has none, such as one of autograd's before its first launch.
  const ContextGuard guard(driver, device.context());
  for (std::size_t i = 0; i < static_cast<std::size_t>(call.tensor_map_count); ++i)
    encode(driver, call.tensor_maps[i], call);
}

}  // namespace kiln
