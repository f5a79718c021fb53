// layer_norm_backward_bf16_bf16_bf16_bf16_t1x4096_s1
#include "kernels/mix_order_reduction/reduction.cuh"

struct Formula {
  using Matrix = kiln::bf16;
  static constexpr int kept_matrices = 2;
  static constexpr int matrix_outputs = 1;
  static constexpr int row_vectors = 1;
  static constexpr int loaded_values = 2;
  static constexpr int row_values = 4;
  static constexpr int column_outputs = 0;
  static constexpr int column_sums = 2;
  static constexpr int passes = 1;
  static constexpr bool last_sums = false;
  static constexpr int row_sums(int) { return 2; }
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  struct RowVectors {
    kiln::Octet<kiln::bf16> v0;
    template <class C>
    static RowVectors load(const kiln::mix_order_reduction::ReductionParameters& p, int v) {
      return {kiln::mix_order_reduction::load_vector_octet<C, kiln::bf16>(p.row_vectors[0], v, p.row_vector_access)};
    }
    void widen(int i, float* w) const { w[0] = v0.get(i); }
  };
  static const float* loaded_value(const kiln::mix_order_reduction::ReductionParameters& p, int k) {
    if (k == 0) return p.column_vectors[1];
    return p.column_vectors[0];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fmul_rn(s[1], inverse_n);
    c[2] = t0;
    c[3] = t1;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s, float* q) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t2, t1, s[0]);
    s[1] = __fadd_rn(s[1], t2);
    q[0] = __fmaf_rn(m[1], t1, q[0]);
    q[1] = __fadd_rn(q[1], m[1]);
  }
  static void last(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q, float* o) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = -t1;
    const float t3 = __fmul_rn(m[1], v[0]);
    const float t4 = __fmaf_rn(t2, c[2], t3);
    const float t5 = __fsub_rn(t4, c[3]);
    const float t6 = __fmul_rn(c[0], t5);
    o[0] = t6;
  }
  template <int Threads>
  static void finish(const kiln::mix_order_reduction::ReductionParameters& p, int n, float* scratch) {
    kiln::mix_order_reduction::finish_columns<kiln::bf16, kiln::mix_order_reduction::Join::sum, 2, Threads>(p, 0, n, false, scratch);
  }
};

struct Config {
  using Formula = ::Formula;
  static constexpr kiln::mix_order_reduction::Geometry geometry{
      .n = 4096,
      .element_bytes = Formula::Matrix::kBytes,
      .inputs = 2,
      .row_sums = 2,
      .threads = 512,
      .lanes_per_thread = 1,
      .rows_per_step = 1,
      .stages = 1,
      .cluster_ctas = 1,
  };
  static constexpr bool keep_inputs = true;
  static constexpr bool row_vectors_in_registers = true;
  static constexpr bool takes_any_alignment = false;
  static constexpr float inverse_n = 1.0f / geometry.n;
  static constexpr long long smem_bytes = 16640;
};

extern "C" __global__ void __launch_bounds__(512, 2)
layer_norm_backward_bf16_bf16_bf16_bf16_t1x4096_s1(const __grid_constant__ kiln::mix_order_reduction::ReductionParameters p) {
  kiln::mix_order_reduction::reduce<Config>(p);
}
