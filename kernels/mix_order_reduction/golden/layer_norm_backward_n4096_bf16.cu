// layer_norm_backward_bf16_bf16_bf16_bf16_t1x4096_s1
#include "kernels/mix_order_reduction/reduction.cuh"

struct Formula {
  using Matrix = kiln::bf16;
  using Sum = kiln::bf16;
  static constexpr int kept_matrices = 2;
  static constexpr int matrix_outputs = 1;
  static constexpr int row_vectors = 1;
  static constexpr int column_vectors = 2;
  static constexpr int column_sums = 2;
  struct RowVectors {
    kiln::Octet<kiln::bf16> v0;
    template <class C>
    static RowVectors load(const kiln::mix_order_reduction::ReductionParameters& p, int v) {
      return {kiln::mix_order_reduction::load_vector_octet<C, kiln::bf16>(p.row_vectors[0], v, p.row_vector_access)};
    }
    void widen(int i, float* w) const { w[0] = v0.get(i); }
  };
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
    q[0] = __fmaf_rn(m[1], t4, q[0]);
    q[1] = __fadd_rn(q[1], m[1]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t5 = -t4;
    const float t8 = __fmul_rn(m[1], v[0]);
    const float t11 = __fmul_rn(s[0], inverse_n);
    const float t12 = __fmaf_rn(t5, t11, t8);
    const float t14 = __fmul_rn(s[1], inverse_n);
    const float t15 = __fsub_rn(t12, t14);
    const float t16 = __fmul_rn(c[1], t15);
    o[0] = t16;
  }
};

struct Config {
  using Formula = ::Formula;
  static constexpr kiln::mix_order_reduction::Geometry geometry{
      .n = 4096,
      .element_bytes = Formula::Matrix::kBytes,
      .inputs = 2,
      .row_sums = 2,
      .threads = 256,
      .lanes_per_thread = 2,
      .rows_per_step = 1,
      .stages = 1,
      .cluster_ctas = 1,
  };
  static constexpr bool keep_inputs = true;
  static constexpr bool row_vectors_in_registers = true;
  static constexpr bool accumulate = false;
  static constexpr float inverse_n = 1.0f / geometry.n;
  static constexpr long long smem_bytes = 16640;
};

extern "C" __global__ void __launch_bounds__(256, 2)
layer_norm_backward_bf16_bf16_bf16_bf16_t1x4096_s1(const __grid_constant__ kiln::mix_order_reduction::ReductionParameters p) {
  kiln::mix_order_reduction::reduce<Config>(p);
}
