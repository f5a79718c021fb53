// rms_norm_backward_bf16_bf16_bf16_t1x4096_s1
#include "kernels/mix_order_reduction/rms_norm_backward.cuh"

struct Config {
  using X = kiln::bf16;
  using W = kiln::bf16;
  using DW = kiln::bf16;
  static constexpr kiln::mix_order_reduction::Geometry geometry{
      .n = 4096,
      .element_bytes = X::kBytes,
      .inputs = 2,
      .threads = 256,
      .lanes_per_thread = 2,
      .rows_per_step = 1,
      .stages = 1,
      .cluster_ctas = 1,
  };
  static constexpr bool keep_inputs = true;
  static constexpr bool weight_in_registers = true;
  static constexpr bool residual = false;
  static constexpr bool accumulate = false;
  static constexpr float inverse_n = 1.0f / geometry.n;
  static constexpr long long smem_bytes = 16512;
};

extern "C" __global__ void __launch_bounds__(256, 2)
rms_norm_backward_bf16_bf16_bf16_t1x4096_s1(const __grid_constant__ kiln::mix_order_reduction::RmsNormBackwardParameters p) {
  kiln::mix_order_reduction::rms_norm_backward<Config>(p);
}
