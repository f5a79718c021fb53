// grouped_gemm_dgrad_n384_k576_bf16_t128x192_s5
#include "kernels/grouped_gemm/hopper.cuh"

struct Config {
  using Out = kiln::bf16;
  static constexpr kiln::grouped_gemm::Geometry geometry{
      .op = kiln::grouped_gemm::Op::dgrad,
      .rows = 0,
      .columns = 576,
      .depth = 384,
      .out_bytes = Out::kBytes,
      .add = kiln::grouped_gemm::Add::none,
      .tile_rows = 128,
      .tile_columns = 192,
      .tile_depth = 64,
      .stages = 5,
      .slabs = 1,
      .cluster_ctas = 2,
      .band = 8,
  };
  static constexpr int threads = 384;
  static constexpr long long smem_bytes = 221568;
};

extern "C" __global__ void __launch_bounds__(384, 1)
grouped_gemm_dgrad_n384_k576_bf16_t128x192_s5(const __grid_constant__ kiln::grouped_gemm::HopperParameters p) {
  kiln::grouped_gemm::hopper<Config>(p);
}
