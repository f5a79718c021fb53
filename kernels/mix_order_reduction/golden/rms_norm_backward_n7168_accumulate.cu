// rms_norm_backward_bf16_f32_f32_t2x7168_s1_acc
#include "kernels/mix_order_reduction/rms_norm_backward.cuh"

struct Config {
  using X = kiln::bf16;
  using W = kiln::f32;
  using DW = kiln::f32;
  static constexpr kiln::mix_order_reduction::Geometry geometry{
      .n = 7168,
      .element_bytes = X::kBytes,
      .inputs = 2,
      .threads = 448,
      .lanes_per_thread = 2,
      .rows_per_step = 2,
      .stages = 1,
      .cluster_ctas = 1,
  };
  static constexpr bool keep_inputs = true;
  static constexpr bool weight_in_registers = true;
  static constexpr bool residual = false;
  static constexpr bool accumulate = true;
  static constexpr float inverse_n = 1.0f / geometry.n;
  static constexpr long long smem_bytes = 57856;
};

extern "C" __global__ void __launch_bounds__(448, 1)
rms_norm_backward_bf16_f32_f32_t2x7168_s1_acc(const __grid_constant__ kiln::mix_order_reduction::RmsNormBackwardParameters p) {
  kiln::mix_order_reduction::rms_norm_backward<Config>(p);
}
