// layer_norm_forward_bf16_bf16_bf16_t2x4096_s1
#include "kernels/mix_order_reduction/reduction.cuh"

struct Formula {
  using Matrix = kiln::bf16;
  static constexpr int kept_matrices = 1;
  static constexpr int matrix_outputs = 1;
  static constexpr int row_vectors = 2;
  static constexpr int loaded_values = 0;
  static constexpr int row_values = 2;
  static constexpr int column_outputs = 2;
  static constexpr int column_sums = 0;
  static constexpr int passes = 2;
  static constexpr bool last_sums = false;
  static constexpr int row_sums(int) { return 1; }
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  struct RowVectors {
    kiln::Octet<kiln::bf16> v0;
    kiln::Octet<kiln::bf16> v1;
    template <class C>
    static RowVectors load(const kiln::mix_order_reduction::ReductionParameters& p, int v) {
      return {kiln::mix_order_reduction::load_vector_octet<C, kiln::bf16>(p.row_vectors[0], v, p.row_vector_access), kiln::mix_order_reduction::load_vector_octet<C, kiln::bf16>(p.row_vectors[1], v, p.row_vector_access)};
    }
    void widen(int i, float* w) const { w[0] = v0.get(i); w[1] = v1.get(i); }
  };
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[0] = t0;
    }
    if constexpr (Which == 2) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[1] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s, float* q) {
    if constexpr (Which == 0) {
    s[0] = __fadd_rn(s[0], m[0]);
    }
    if constexpr (Which == 1) {
    const float t0 = __fsub_rn(m[0], c[0]);
    s[0] = __fmaf_rn(t0, t0, s[0]);
    }
  }
  static void last(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q, float* o) {
    const float t0 = __fsub_rn(m[0], c[0]);
    const float t1 = __fmul_rn(t0, c[1]);
    const float t2 = __fmaf_rn(t1, v[0], v[1]);
    o[0] = t2;
  }
};

struct Config {
  using Formula = ::Formula;
  static constexpr kiln::mix_order_reduction::Geometry geometry{
      .n = 4096,
      .element_bytes = Formula::Matrix::kBytes,
      .inputs = 1,
      .row_sums = 1,
      .threads = 512,
      .lanes_per_thread = 1,
      .rows_per_step = 2,
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
layer_norm_forward_bf16_bf16_bf16_t2x4096_s1(const __grid_constant__ kiln::mix_order_reduction::ReductionParameters p) {
  kiln::mix_order_reduction::reduce<Config>(p);
}
