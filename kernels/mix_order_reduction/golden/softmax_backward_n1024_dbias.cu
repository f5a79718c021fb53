// softmax_backward_bf16_f32_t8x1024_s1
#include "kernels/mix_order_reduction/reduction.cuh"

struct Formula {
  using Matrix = kiln::bf16;
  static constexpr int kept_matrices = 2;
  static constexpr int matrix_outputs = 1;
  static constexpr int row_vectors = 0;
  static constexpr int loaded_values = 0;
  static constexpr int row_values = 1;
  static constexpr int column_outputs = 0;
  static constexpr int column_sums = 1;
  static constexpr int passes = 1;
  static constexpr bool last_sums = true;
  static constexpr int row_sums(int) { return 1; }
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  struct RowVectors {
    template <class C>
    static RowVectors load(const kiln::mix_order_reduction::ReductionParameters& p, int v) {
      return {};
    }
    void widen(int i, float* w) const { }
  };
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    c[0] = s[0];
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s, float* q) {
    s[0] = __fmaf_rn(m[1], m[0], s[0]);
  }
  static void last(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q, float* o) {
    const float t0 = __fsub_rn(m[1], c[0]);
    const float t1 = __fmul_rn(m[0], t0);
    q[0] = __fadd_rn(q[0], t1);
    o[0] = t1;
  }
  template <int Threads>
  static void finish(const kiln::mix_order_reduction::ReductionParameters& p, int n, float* scratch) {
    kiln::mix_order_reduction::finish_columns<kiln::f32, kiln::mix_order_reduction::Join::sum, 1, Threads>(p, 0, n, false, scratch);
  }
};

struct Config {
  using Formula = ::Formula;
  static constexpr kiln::mix_order_reduction::Geometry geometry{
      .n = 1024,
      .element_bytes = Formula::Matrix::kBytes,
      .inputs = 2,
      .row_sums = 1,
      .threads = 256,
      .lanes_per_thread = 1,
      .rows_per_step = 1,
      .stages = 1,
      .cluster_ctas = 1,
  };
  static constexpr bool keep_inputs = true;
  static constexpr bool row_vectors_in_registers = true;
  static constexpr bool takes_any_alignment = false;
  static constexpr float inverse_n = 1.0f / geometry.n;
  static constexpr long long smem_bytes = 32768;
};

extern "C" __global__ void __launch_bounds__(256, 2)
softmax_backward_bf16_f32_t8x1024_s1(const __grid_constant__ kiln::mix_order_reduction::ReductionParameters p) {
  kiln::mix_order_reduction::reduce<Config>(p);
}
