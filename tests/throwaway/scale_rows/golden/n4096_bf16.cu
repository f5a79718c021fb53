// scale_rows:n=4096,type=bf16
#include "tests/throwaway/scale_rows/scale_rows.cuh"

struct Config {
  using T = kiln::bf16;
  static constexpr long long n = 4096;
  static constexpr int threads = 256;
  static constexpr long long smem_bytes = 16;
};

extern "C" __global__ void __launch_bounds__(256)
scale_rows_bf16_t1_s1(const __grid_constant__ kiln::scale_rows::Parameters p) {
  kiln::scale_rows::fused<Config>(p);
}
