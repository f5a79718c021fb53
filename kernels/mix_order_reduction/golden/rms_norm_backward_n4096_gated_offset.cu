// rms_norm_backward_bf16_bf16_bf16_gated_offset_t2x4096_s1
#include "kernels/mix_order_reduction/reduction.cuh"
#include "kernels/mix_order_reduction/functions.cuh"

struct Formula {
  using Matrix = kiln::bf16;
  static constexpr int kept_matrices = 3;
  static constexpr int matrix_outputs = 2;
  static constexpr int row_vectors = 1;
  static constexpr int loaded_values = 1;
  static constexpr int row_values = 2;
  static constexpr int column_outputs = 0;
  static constexpr int column_sums = 1;
  static constexpr int passes = 1;
  static constexpr bool last_sums = false;
  static constexpr int row_sums(int) { return 1; }
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
    return p.column_vectors[0];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s, float* q) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t2 = __fmul_rn(m[2], t1);
    const float t3 = __fmul_rn(m[1], t2);
    const float t4 = __fadd_rn(0x1p+0f, v[0]);
    const float t5 = __fmul_rn(t3, t4);
    s[0] = __fmaf_rn(t5, t0, s[0]);
    q[0] = __fmaf_rn(t3, t0, q[0]);
  }
  static void last(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t3 = __fmul_rn(m[2], t2);
    const float t4 = __fmul_rn(m[1], t3);
    const float t5 = __fadd_rn(0x1p+0f, v[0]);
    const float t6 = __fmul_rn(t4, t5);
    const float t7 = __fmaf_rn(t1, c[1], t6);
    const float t8 = __fmul_rn(c[0], t7);
    const float t9 = __fmul_rn(t0, t5);
    const float t10 = __fmul_rn(m[1], t9);
    const float t11 = __fsub_rn(0x1p+0f, t2);
    const float t12 = __fmaf_rn(m[2], t11, 0x1p+0f);
    const float t13 = __fmul_rn(t2, t12);
    const float t14 = __fmul_rn(t10, t13);
    o[0] = t8;
    o[1] = t14;
  }
  template <int Threads>
  static void finish(const kiln::mix_order_reduction::ReductionParameters& p, int n, float* scratch) {
    kiln::mix_order_reduction::finish_columns<kiln::bf16, kiln::mix_order_reduction::Join::sum, 1, Threads>(p, 0, n, false, scratch);
  }
};

struct Config {
  using Formula = ::Formula;
  static constexpr kiln::mix_order_reduction::Geometry geometry{
      .n = 4096,
      .element_bytes = Formula::Matrix::kBytes,
      .inputs = 3,
      .row_sums = 1,
      .threads = 256,
      .lanes_per_thread = 2,
      .rows_per_step = 2,
      .stages = 1,
      .cluster_ctas = 1,
  };
  static constexpr bool keep_inputs = true;
  static constexpr bool row_vectors_in_registers = true;
  static constexpr bool takes_any_alignment = false;
  static constexpr float inverse_n = 1.0f / geometry.n;
  static constexpr long long smem_bytes = 49408;
};

extern "C" __global__ void __launch_bounds__(256, 1)
rms_norm_backward_bf16_bf16_bf16_gated_offset_t2x4096_s1(const __grid_constant__ kiln::mix_order_reduction::ReductionParameters p) {
  kiln::mix_order_reduction::reduce<Config>(p);
}
