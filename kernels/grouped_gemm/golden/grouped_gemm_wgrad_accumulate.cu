// grouped_gemm_wgrad_n256_k320_f32_t128x192_s5_engine_acc
#include "kernels/grouped_gemm/hopper.cuh"

struct Config {
  using Out = kiln::f32;
  static constexpr kiln::grouped_gemm::Geometry geometry{
      .op = kiln::grouped_gemm::Op::wgrad,
      .rows = 256,
      .columns = 320,
      .depth = 0,
      .out_bytes = Out::kBytes,
      .add = kiln::grouped_gemm::Add::engine,
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
grouped_gemm_wgrad_n256_k320_f32_t128x192_s5_engine_acc(const __grid_constant__ kiln::grouped_gemm::HopperParameters p) {
  kiln::grouped_gemm::hopper<Config>(p);
}
// grouped_gemm_wgrad_n256_k320_f32_t128x192_s4_staged_acc
#include "kernels/grouped_gemm/hopper.cuh"

struct Config {
  using Out = kiln::f32;
  static constexpr kiln::grouped_gemm::Geometry geometry{
      .op = kiln::grouped_gemm::Op::wgrad,
      .rows = 256,
      .columns = 320,
      .depth = 0,
      .out_bytes = Out::kBytes,
      .add = kiln::grouped_gemm::Add::staged,
      .tile_rows = 128,
      .tile_columns = 192,
      .tile_depth = 64,
      .stages = 4,
      .slabs = 3,
      .cluster_ctas = 2,
      .band = 8,
  };
  static constexpr int threads = 384;
  static constexpr long long smem_bytes = 213488;
};

extern "C" __global__ void __launch_bounds__(384, 1)
grouped_gemm_wgrad_n256_k320_f32_t128x192_s4_staged_acc(const __grid_constant__ kiln::grouped_gemm::HopperParameters p) {
  kiln::grouped_gemm::hopper<Config>(p);
}
