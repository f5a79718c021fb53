// rms_norm_backward_bf16_f32_f32_t2x7168_s1_acc
#include "kernels/mix_order_reduction/reduction.cuh"

struct Formula {
  using Matrix = kiln::bf16;
  using Sum = kiln::f32;
  static constexpr int kept_matrices = 2;
  static constexpr int matrix_outputs = 1;
  static constexpr int row_vectors = 1;
  static constexpr int column_vectors = 1;
  static constexpr int column_sums = 1;
  struct RowVectors {
    kiln::Octet<kiln::f32> v0;
    template <class C>
    static RowVectors load(const kiln::mix_order_reduction::ReductionParameters& p, int v) {
      return {kiln::mix_order_reduction::load_vector_octet<C, kiln::f32>(p.row_vectors[0], v, p.row_vector_access)};
    }
    void widen(int i, float* w) const { w[0] = v0.get(i); }
  };
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
    q[0] = __fmaf_rn(m[1], t2, q[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t6 = __fmul_rn(m[1], v[0]);
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t3, t9, t6);
    const float t11 = __fmul_rn(c[0], t10);
    o[0] = t11;
  }
};

struct Config {
  using Formula = ::Formula;
  static constexpr kiln::mix_order_reduction::Geometry geometry{
      .n = 7168,
      .element_bytes = Formula::Matrix::kBytes,
      .inputs = 2,
      .row_sums = 1,
      .threads = 448,
      .lanes_per_thread = 2,
      .rows_per_step = 2,
      .stages = 1,
      .cluster_ctas = 1,
  };
  static constexpr bool keep_inputs = true;
  static constexpr bool row_vectors_in_registers = true;
  static constexpr bool accumulate = true;
  static constexpr float inverse_n = 1.0f / geometry.n;
  static constexpr long long smem_bytes = 57856;
};

extern "C" __global__ void __launch_bounds__(448, 1)
rms_norm_backward_bf16_f32_f32_t2x7168_s1_acc(const __grid_constant__ kiln::mix_order_reduction::ReductionParameters p) {
  kiln::mix_order_reduction::reduce<Config>(p);
}
