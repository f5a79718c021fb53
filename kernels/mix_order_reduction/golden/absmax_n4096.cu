// absmax_bf16_t2x4096_s1
#include "kernels/mix_order_reduction/reduction.cuh"

struct Formula {
  using Matrix = kiln::bf16;
  static constexpr int kept_matrices = 1;
  static constexpr int matrix_outputs = 0;
  static constexpr int row_vectors = 0;
  static constexpr int loaded_values = 0;
  static constexpr int row_values = 1;
  static constexpr int column_outputs = 1;
  static constexpr int column_sums = 1;
  static constexpr int passes = 1;
  static constexpr bool last_sums = false;
  static constexpr int row_sums(int) { return 1; }
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::absmax; }
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::absmax; }
  struct RowVectors {
    template <class C>
    static RowVectors load(const kiln::mix_order_reduction::ReductionParameters& p, int v) {
      return {};
    }
    void widen(int i, float* w) const { }
  };
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    c[0] = s[0];
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s, float* q) {
    const float t0 = kiln::absolute(m[0]);
    s[0] = kiln::maximum(s[0], t0);
    q[0] = kiln::maximum(q[0], t0);
  }
  static void last(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q, float* o) {
  }
  template <int Threads>
  static void finish(const kiln::mix_order_reduction::ReductionParameters& p, int n, float* scratch) {
    kiln::mix_order_reduction::finish_columns<kiln::f32, kiln::mix_order_reduction::Join::absmax, 1, Threads>(p, 0, n, false, scratch);
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
absmax_bf16_t2x4096_s1(const __grid_constant__ kiln::mix_order_reduction::ReductionParameters p) {
  kiln::mix_order_reduction::reduce<Config>(p);
}
