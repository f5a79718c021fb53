// The composed route: any n at run time, small kernels, the bits of the fused ones.
// Generated from ops/*.json; KILN_UPDATE_GOLDENS=1 renews it in the tests of the family.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include "kernels/mix_order_reduction/composed.cuh"

using namespace kiln::mix_order_reduction;

struct formula_layer_norm_backward_columns_db_bf16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 0, column_sums = 1, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    q[0] = __fadd_rn(q[0], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_db_bf16(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_db_bf16>(p);
}

struct formula_layer_norm_backward_columns_db_f16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 0, column_sums = 1, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    q[0] = __fadd_rn(q[0], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_db_f16(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_db_f16>(p);
}

struct formula_layer_norm_backward_columns_db_f32 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 0, column_sums = 1, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    q[0] = __fadd_rn(q[0], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_db_f32(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_db_f32>(p);
}

struct formula_layer_norm_backward_columns_dw_bf16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 0, column_sums = 1, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    q[0] = __fmaf_rn(m[1], t4, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_dw_bf16(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_dw_bf16>(p);
}

struct formula_layer_norm_backward_columns_dw_db_bf16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 0, column_sums = 2, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    q[0] = __fmaf_rn(m[1], t4, q[0]);
    q[1] = __fadd_rn(q[1], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_dw_db_bf16(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_dw_db_bf16>(p);
}

struct formula_layer_norm_backward_columns_dw_db_f16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 0, column_sums = 2, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    q[0] = __fmaf_rn(m[1], t4, q[0]);
    q[1] = __fadd_rn(q[1], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_dw_db_f16(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_dw_db_f16>(p);
}

struct formula_layer_norm_backward_columns_dw_db_f32 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 0, column_sums = 2, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    q[0] = __fmaf_rn(m[1], t4, q[0]);
    q[1] = __fadd_rn(q[1], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_dw_db_f32(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_dw_db_f32>(p);
}

struct formula_layer_norm_backward_columns_dw_f16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 0, column_sums = 1, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    q[0] = __fmaf_rn(m[1], t4, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_dw_f16(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_dw_f16>(p);
}

struct formula_layer_norm_backward_columns_dw_f32 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 0, column_sums = 1, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    q[0] = __fmaf_rn(m[1], t4, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_dw_f32(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_dw_f32>(p);
}

struct formula_layer_norm_backward_rows_bf16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    s[0] = __fmaf_rn(m[1], t4, s[0]);
    s[1] = __fadd_rn(s[1], m[1]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t5 = -t4;
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t5, t9, m[1]);
    const float t12 = __fmul_rn(s[1], inverse_n);
    const float t13 = __fsub_rn(t10, t12);
    const float t14 = __fmul_rn(c[1], t13);
    o[0] = t14;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_bf16>(p);
}

struct formula_layer_norm_backward_rows_bf16_residual {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    m[2] = composed_matrix<kiln::bf16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    s[0] = __fmaf_rn(m[1], t4, s[0]);
    s[1] = __fadd_rn(s[1], m[1]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t5 = -t4;
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t5, t9, m[1]);
    const float t12 = __fmul_rn(s[1], inverse_n);
    const float t13 = __fsub_rn(t10, t12);
    const float t14 = __fmul_rn(c[1], t13);
    const float t16 = __fadd_rn(t14, m[2]);
    o[0] = t16;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_bf16_residual(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_bf16_residual>(p);
}

struct formula_layer_norm_backward_rows_bf16_residual_w_bf16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::bf16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
    const float t18 = __fadd_rn(t16, m[2]);
    o[0] = t18;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_bf16_residual_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_bf16_residual_w_bf16>(p);
}

struct formula_layer_norm_backward_rows_bf16_residual_w_f16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::bf16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
    const float t18 = __fadd_rn(t16, m[2]);
    o[0] = t18;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_bf16_residual_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_bf16_residual_w_f16>(p);
}

struct formula_layer_norm_backward_rows_bf16_residual_w_f32 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::bf16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
    const float t18 = __fadd_rn(t16, m[2]);
    o[0] = t18;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_bf16_residual_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_bf16_residual_w_f32>(p);
}

struct formula_layer_norm_backward_rows_bf16_w_bf16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_bf16_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_bf16_w_bf16>(p);
}

struct formula_layer_norm_backward_rows_bf16_w_f16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_bf16_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_bf16_w_f16>(p);
}

struct formula_layer_norm_backward_rows_bf16_w_f32 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_bf16_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_bf16_w_f32>(p);
}

struct formula_layer_norm_backward_rows_f16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    s[0] = __fmaf_rn(m[1], t4, s[0]);
    s[1] = __fadd_rn(s[1], m[1]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t5 = -t4;
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t5, t9, m[1]);
    const float t12 = __fmul_rn(s[1], inverse_n);
    const float t13 = __fsub_rn(t10, t12);
    const float t14 = __fmul_rn(c[1], t13);
    o[0] = t14;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f16>(p);
}

struct formula_layer_norm_backward_rows_f16_residual {
  using Matrix = kiln::f16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    m[2] = composed_matrix<kiln::f16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    s[0] = __fmaf_rn(m[1], t4, s[0]);
    s[1] = __fadd_rn(s[1], m[1]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t5 = -t4;
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t5, t9, m[1]);
    const float t12 = __fmul_rn(s[1], inverse_n);
    const float t13 = __fsub_rn(t10, t12);
    const float t14 = __fmul_rn(c[1], t13);
    const float t16 = __fadd_rn(t14, m[2]);
    o[0] = t16;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f16_residual(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f16_residual>(p);
}

struct formula_layer_norm_backward_rows_f16_residual_w_bf16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
    const float t18 = __fadd_rn(t16, m[2]);
    o[0] = t18;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f16_residual_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f16_residual_w_bf16>(p);
}

struct formula_layer_norm_backward_rows_f16_residual_w_f16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
    const float t18 = __fadd_rn(t16, m[2]);
    o[0] = t18;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f16_residual_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f16_residual_w_f16>(p);
}

struct formula_layer_norm_backward_rows_f16_residual_w_f32 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
    const float t18 = __fadd_rn(t16, m[2]);
    o[0] = t18;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f16_residual_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f16_residual_w_f32>(p);
}

struct formula_layer_norm_backward_rows_f16_w_bf16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f16_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f16_w_bf16>(p);
}

struct formula_layer_norm_backward_rows_f16_w_f16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f16_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f16_w_f16>(p);
}

struct formula_layer_norm_backward_rows_f16_w_f32 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f16_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f16_w_f32>(p);
}

struct formula_layer_norm_backward_rows_f32 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    s[0] = __fmaf_rn(m[1], t4, s[0]);
    s[1] = __fadd_rn(s[1], m[1]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t5 = -t4;
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t5, t9, m[1]);
    const float t12 = __fmul_rn(s[1], inverse_n);
    const float t13 = __fsub_rn(t10, t12);
    const float t14 = __fmul_rn(c[1], t13);
    o[0] = t14;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f32>(p);
}

struct formula_layer_norm_backward_rows_f32_residual {
  using Matrix = kiln::f32;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    m[2] = composed_matrix<kiln::f32>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    s[0] = __fmaf_rn(m[1], t4, s[0]);
    s[1] = __fadd_rn(s[1], m[1]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t5 = -t4;
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t5, t9, m[1]);
    const float t12 = __fmul_rn(s[1], inverse_n);
    const float t13 = __fsub_rn(t10, t12);
    const float t14 = __fmul_rn(c[1], t13);
    const float t16 = __fadd_rn(t14, m[2]);
    o[0] = t16;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f32_residual(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f32_residual>(p);
}

struct formula_layer_norm_backward_rows_f32_residual_w_bf16 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f32>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
    const float t18 = __fadd_rn(t16, m[2]);
    o[0] = t18;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f32_residual_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f32_residual_w_bf16>(p);
}

struct formula_layer_norm_backward_rows_f32_residual_w_f16 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f32>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
    const float t18 = __fadd_rn(t16, m[2]);
    o[0] = t18;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f32_residual_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f32_residual_w_f16>(p);
}

struct formula_layer_norm_backward_rows_f32_residual_w_f32 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f32>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
    const float t18 = __fadd_rn(t16, m[2]);
    o[0] = t18;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f32_residual_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f32_residual_w_f32>(p);
}

struct formula_layer_norm_backward_rows_f32_w_bf16 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f32_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f32_w_bf16>(p);
}

struct formula_layer_norm_backward_rows_f32_w_f16 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f32_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f32_w_f16>(p);
}

struct formula_layer_norm_backward_rows_f32_w_f32 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 2;
  static constexpr int row_sums = 2, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[1] = p.column_vectors[1][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    c[0] = p.column_vectors[0][row];
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t3 = __fsub_rn(m[0], c[0]);
    const float t4 = __fmul_rn(t3, c[1]);
    const float t8 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t8, t4, s[0]);
    s[1] = __fadd_rn(s[1], t8);
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
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_f32_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_f32_w_f32>(p);
}

struct formula_rms_norm_backward_columns_dw_bf16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 0, column_sums = 1, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    q[0] = __fmaf_rn(m[1], t2, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_columns_dw_bf16(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_rms_norm_backward_columns_dw_bf16>(p);
}

struct formula_rms_norm_backward_columns_dw_f16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 0, column_sums = 1, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    q[0] = __fmaf_rn(m[1], t2, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_columns_dw_f16(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_rms_norm_backward_columns_dw_f16>(p);
}

struct formula_rms_norm_backward_columns_dw_f32 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 0, column_sums = 1, outputs = 0;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    q[0] = __fmaf_rn(m[1], t2, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_columns_dw_f32(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_rms_norm_backward_columns_dw_f32>(p);
}

struct formula_rms_norm_backward_rows_bf16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    s[0] = __fmaf_rn(m[1], t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t7 = __fmul_rn(s[0], inverse_n);
    const float t8 = __fmaf_rn(t3, t7, m[1]);
    const float t9 = __fmul_rn(c[0], t8);
    o[0] = t9;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_bf16>(p);
}

struct formula_rms_norm_backward_rows_bf16_residual {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    m[2] = composed_matrix<kiln::bf16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    s[0] = __fmaf_rn(m[1], t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t7 = __fmul_rn(s[0], inverse_n);
    const float t8 = __fmaf_rn(t3, t7, m[1]);
    const float t9 = __fmul_rn(c[0], t8);
    const float t11 = __fadd_rn(t9, m[2]);
    o[0] = t11;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_residual(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_bf16_residual>(p);
}

struct formula_rms_norm_backward_rows_bf16_residual_w_bf16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::bf16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t6 = __fmul_rn(m[1], v[0]);
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t3, t9, t6);
    const float t11 = __fmul_rn(c[0], t10);
    const float t13 = __fadd_rn(t11, m[2]);
    o[0] = t13;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_residual_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_bf16_residual_w_bf16>(p);
}

struct formula_rms_norm_backward_rows_bf16_residual_w_f16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::bf16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t6 = __fmul_rn(m[1], v[0]);
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t3, t9, t6);
    const float t11 = __fmul_rn(c[0], t10);
    const float t13 = __fadd_rn(t11, m[2]);
    o[0] = t13;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_residual_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_bf16_residual_w_f16>(p);
}

struct formula_rms_norm_backward_rows_bf16_residual_w_f32 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::bf16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t6 = __fmul_rn(m[1], v[0]);
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t3, t9, t6);
    const float t11 = __fmul_rn(c[0], t10);
    const float t13 = __fadd_rn(t11, m[2]);
    o[0] = t13;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_residual_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_bf16_residual_w_f32>(p);
}

struct formula_rms_norm_backward_rows_bf16_w_bf16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
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
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_bf16_w_bf16>(p);
}

struct formula_rms_norm_backward_rows_bf16_w_f16 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
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
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_bf16_w_f16>(p);
}

struct formula_rms_norm_backward_rows_bf16_w_f32 {
  using Matrix = kiln::bf16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::bf16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::bf16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
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
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_bf16_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_bf16_w_f32>(p);
}

struct formula_rms_norm_backward_rows_f16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    s[0] = __fmaf_rn(m[1], t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t7 = __fmul_rn(s[0], inverse_n);
    const float t8 = __fmaf_rn(t3, t7, m[1]);
    const float t9 = __fmul_rn(c[0], t8);
    o[0] = t9;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f16>(p);
}

struct formula_rms_norm_backward_rows_f16_residual {
  using Matrix = kiln::f16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    m[2] = composed_matrix<kiln::f16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    s[0] = __fmaf_rn(m[1], t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t7 = __fmul_rn(s[0], inverse_n);
    const float t8 = __fmaf_rn(t3, t7, m[1]);
    const float t9 = __fmul_rn(c[0], t8);
    const float t11 = __fadd_rn(t9, m[2]);
    o[0] = t11;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_residual(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f16_residual>(p);
}

struct formula_rms_norm_backward_rows_f16_residual_w_bf16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t6 = __fmul_rn(m[1], v[0]);
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t3, t9, t6);
    const float t11 = __fmul_rn(c[0], t10);
    const float t13 = __fadd_rn(t11, m[2]);
    o[0] = t13;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_residual_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f16_residual_w_bf16>(p);
}

struct formula_rms_norm_backward_rows_f16_residual_w_f16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t6 = __fmul_rn(m[1], v[0]);
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t3, t9, t6);
    const float t11 = __fmul_rn(c[0], t10);
    const float t13 = __fadd_rn(t11, m[2]);
    o[0] = t13;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_residual_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f16_residual_w_f16>(p);
}

struct formula_rms_norm_backward_rows_f16_residual_w_f32 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f16>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t6 = __fmul_rn(m[1], v[0]);
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t3, t9, t6);
    const float t11 = __fmul_rn(c[0], t10);
    const float t13 = __fadd_rn(t11, m[2]);
    o[0] = t13;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_residual_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f16_residual_w_f32>(p);
}

struct formula_rms_norm_backward_rows_f16_w_bf16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
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
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f16_w_bf16>(p);
}

struct formula_rms_norm_backward_rows_f16_w_f16 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
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
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f16_w_f16>(p);
}

struct formula_rms_norm_backward_rows_f16_w_f32 {
  using Matrix = kiln::f16;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f16>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f16>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
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
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f16_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f16_w_f32>(p);
}

struct formula_rms_norm_backward_rows_f32 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    s[0] = __fmaf_rn(m[1], t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t7 = __fmul_rn(s[0], inverse_n);
    const float t8 = __fmaf_rn(t3, t7, m[1]);
    const float t9 = __fmul_rn(c[0], t8);
    o[0] = t9;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f32>(p);
}

struct formula_rms_norm_backward_rows_f32_residual {
  using Matrix = kiln::f32;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    m[2] = composed_matrix<kiln::f32>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    s[0] = __fmaf_rn(m[1], t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t7 = __fmul_rn(s[0], inverse_n);
    const float t8 = __fmaf_rn(t3, t7, m[1]);
    const float t9 = __fmul_rn(c[0], t8);
    const float t11 = __fadd_rn(t9, m[2]);
    o[0] = t11;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_residual(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f32_residual>(p);
}

struct formula_rms_norm_backward_rows_f32_residual_w_bf16 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f32>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t6 = __fmul_rn(m[1], v[0]);
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t3, t9, t6);
    const float t11 = __fmul_rn(c[0], t10);
    const float t13 = __fadd_rn(t11, m[2]);
    o[0] = t13;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_residual_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f32_residual_w_bf16>(p);
}

struct formula_rms_norm_backward_rows_f32_residual_w_f16 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f32>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t6 = __fmul_rn(m[1], v[0]);
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t3, t9, t6);
    const float t11 = __fmul_rn(c[0], t10);
    const float t13 = __fadd_rn(t11, m[2]);
    o[0] = t13;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_residual_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f32_residual_w_f16>(p);
}

struct formula_rms_norm_backward_rows_f32_residual_w_f32 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 3, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
    m[2] = composed_matrix<kiln::f32>(p.inputs[2], row, column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, float inverse_n, const float* s, float* o) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t3 = -t2;
    const float t6 = __fmul_rn(m[1], v[0]);
    const float t9 = __fmul_rn(s[0], inverse_n);
    const float t10 = __fmaf_rn(t3, t9, t6);
    const float t11 = __fmul_rn(c[0], t10);
    const float t13 = __fadd_rn(t11, m[2]);
    o[0] = t13;
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_residual_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f32_residual_w_f32>(p);
}

struct formula_rms_norm_backward_rows_f32_w_bf16 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::bf16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
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
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_w_bf16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f32_w_bf16>(p);
}

struct formula_rms_norm_backward_rows_f32_w_f16 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f16>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
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
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_w_f16(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f32_w_f16>(p);
}

struct formula_rms_norm_backward_rows_f32_w_f32 {
  using Matrix = kiln::f32;
  static constexpr int matrices = 2, row_vectors = 1, column_vectors = 1;
  static constexpr int row_sums = 1, column_sums = 0, outputs = 1;
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v, float* c) {
    c[0] = p.column_vectors[0][row];
    m[0] = composed_matrix<kiln::f32>(p.inputs[0], row, column);
    m[1] = composed_matrix<kiln::f32>(p.inputs[1], row, column);
    v[0] = composed_vector<kiln::f32>(p.row_vectors[0], column);
  }
  static void reduce(const float* m, const float* v, const float* c, float inverse_n, float* s, float* q) {
    const float t2 = __fmul_rn(m[0], c[0]);
    const float t6 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t6, t2, s[0]);
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
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_f32_w_f32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_f32_w_f32>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    finish_f32(const __grid_constant__ ReductionParameters p) {
  composed_finish<kiln::f32>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    finish_f16(const __grid_constant__ ReductionParameters p) {
  composed_finish<kiln::f16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    finish_bf16(const __grid_constant__ ReductionParameters p) {
  composed_finish<kiln::bf16>(p);
}
