// The composed route: any n at run time, small kernels, the bits of the fused ones.
// Generated from ops/*.json; KILN_UPDATE_GOLDENS=1 renews it in the tests of the family.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include "kernels/mix_order_reduction/composed.cuh"

using namespace kiln::mix_order_reduction;

struct formula_absmax_columns_1a5d3d25 {
  static constexpr int matrices = 1, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::absmax; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = kiln::absolute(m[0]);
    q[0] = kiln::maximum(q[0], t0);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    absmax_columns_1a5d3d25(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_absmax_columns_1a5d3d25>(p);
}

struct formula_absmax_rows_94a0c10c {
  static constexpr int matrices = 1, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::absmax; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    c[0] = s[0];
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = kiln::absolute(m[0]);
    s[0] = kiln::maximum(s[0], t0);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    absmax_rows_94a0c10c(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_absmax_rows_94a0c10c>(p);
}

struct formula_adaln_backward_columns_dcf238ae {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 4, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    q[0] = __fmaf_rn(m[1], t1, q[0]);
    q[1] = __fadd_rn(q[1], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    adaln_backward_columns_dcf238ae(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_adaln_backward_columns_dcf238ae>(p);
}

struct formula_adaln_backward_columns_eed4e728 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 4, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    q[0] = __fmaf_rn(m[1], t1, q[0]);
    q[1] = __fadd_rn(q[1], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    adaln_backward_columns_eed4e728(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_adaln_backward_columns_eed4e728>(p);
}

struct formula_adaln_backward_rows_afcbb18d {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 4, row_sums = 2;
  static constexpr int passes = 1, outputs = 1, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = __fadd_rn(0x1p+0f, v[0]);
    const float t3 = __fmul_rn(m[1], t2);
    s[0] = __fmaf_rn(t3, t1, s[0]);
    s[1] = __fadd_rn(s[1], t3);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = -t1;
    const float t3 = __fadd_rn(0x1p+0f, v[0]);
    const float t4 = __fmul_rn(m[1], t3);
    const float t5 = __fmaf_rn(t2, c[2], t4);
    const float t6 = __fsub_rn(t5, c[3]);
    const float t7 = __fmul_rn(c[0], t6);
    o[0] = t7;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    adaln_backward_rows_afcbb18d(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_adaln_backward_rows_afcbb18d>(p);
}

struct formula_adaln_backward_rows_d00594ea {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 4, row_sums = 2;
  static constexpr int passes = 1, outputs = 1, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
    m[2] = composed_matrix(p, 2, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = __fadd_rn(0x1p+0f, v[0]);
    const float t3 = __fmul_rn(m[1], t2);
    s[0] = __fmaf_rn(t3, t1, s[0]);
    s[1] = __fadd_rn(s[1], t3);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = -t1;
    const float t3 = __fadd_rn(0x1p+0f, v[0]);
    const float t4 = __fmul_rn(m[1], t3);
    const float t5 = __fmaf_rn(t2, c[2], t4);
    const float t6 = __fsub_rn(t5, c[3]);
    const float t7 = __fmul_rn(c[0], t6);
    const float t8 = __fadd_rn(t7, m[2]);
    o[0] = t8;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    adaln_backward_rows_d00594ea(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_adaln_backward_rows_d00594ea>(p);
}

struct formula_bias_backward_columns_57b52c4b {
  static constexpr int matrices = 1, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    q[0] = __fadd_rn(q[0], m[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    bias_backward_columns_57b52c4b(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_bias_backward_columns_57b52c4b>(p);
}

struct formula_bias_backward_rows_3cb1c2d4 {
  static constexpr int matrices = 1, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    c[0] = s[0];
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    s[0] = __fadd_rn(s[0], m[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    bias_backward_rows_3cb1c2d4(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_bias_backward_rows_3cb1c2d4>(p);
}

struct formula_layer_norm_backward_columns_2ba0e45b {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 4, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    q[0] = __fadd_rn(q[0], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_2ba0e45b(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_2ba0e45b>(p);
}

struct formula_layer_norm_backward_columns_9be960d2 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 4, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    q[0] = __fadd_rn(q[0], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_9be960d2(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_9be960d2>(p);
}

struct formula_layer_norm_backward_columns_c5b761cb {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 4, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    q[0] = __fmaf_rn(m[1], t1, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_c5b761cb(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_c5b761cb>(p);
}

struct formula_layer_norm_backward_columns_cb9431d3 {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 4, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    q[0] = __fmaf_rn(m[1], t1, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_cb9431d3(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_cb9431d3>(p);
}

struct formula_layer_norm_backward_columns_dcf238ae {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 4, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    q[0] = __fmaf_rn(m[1], t1, q[0]);
    q[1] = __fadd_rn(q[1], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_dcf238ae(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_dcf238ae>(p);
}

struct formula_layer_norm_backward_columns_eed4e728 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 4, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    q[0] = __fmaf_rn(m[1], t1, q[0]);
    q[1] = __fadd_rn(q[1], m[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_columns_eed4e728(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_layer_norm_backward_columns_eed4e728>(p);
}

struct formula_layer_norm_backward_rows_1e2b9c08 {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 4, row_sums = 2;
  static constexpr int passes = 1, outputs = 1, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
    m[2] = composed_matrix(p, 2, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t2, t1, s[0]);
    s[1] = __fadd_rn(s[1], t2);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = -t1;
    const float t3 = __fmul_rn(m[1], v[0]);
    const float t4 = __fmaf_rn(t2, c[2], t3);
    const float t5 = __fsub_rn(t4, c[3]);
    const float t6 = __fmul_rn(c[0], t5);
    const float t7 = __fadd_rn(t6, m[2]);
    o[0] = t7;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_1e2b9c08(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_1e2b9c08>(p);
}

struct formula_layer_norm_backward_rows_29a7f564 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 4, row_sums = 2;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    s[0] = __fmaf_rn(m[1], t1, s[0]);
    s[1] = __fadd_rn(s[1], m[1]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = -t1;
    const float t3 = __fmaf_rn(t2, c[2], m[1]);
    const float t4 = __fsub_rn(t3, c[3]);
    const float t5 = __fmul_rn(c[0], t4);
    o[0] = t5;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_29a7f564(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_29a7f564>(p);
}

struct formula_layer_norm_backward_rows_3fcb7237 {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 4, row_sums = 2;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[2] = composed_matrix(p, 2, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    s[0] = __fmaf_rn(m[1], t1, s[0]);
    s[1] = __fadd_rn(s[1], m[1]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = -t1;
    const float t3 = __fmaf_rn(t2, c[2], m[1]);
    const float t4 = __fsub_rn(t3, c[3]);
    const float t5 = __fmul_rn(c[0], t4);
    const float t6 = __fadd_rn(t5, m[2]);
    o[0] = t6;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_3fcb7237(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_3fcb7237>(p);
}

struct formula_layer_norm_backward_rows_46e01568 {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 4, row_sums = 2;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
    m[2] = composed_matrix(p, 2, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t2, t1, s[0]);
    s[1] = __fadd_rn(s[1], t2);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = -t1;
    const float t3 = __fmul_rn(m[1], v[0]);
    const float t4 = __fmaf_rn(t2, c[2], t3);
    const float t5 = __fsub_rn(t4, c[3]);
    const float t6 = __fmul_rn(c[0], t5);
    const float t7 = __fadd_rn(t6, m[2]);
    o[0] = t7;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_46e01568(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_46e01568>(p);
}

struct formula_layer_norm_backward_rows_4a6f3d3c {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 4, row_sums = 2;
  static constexpr int passes = 1, outputs = 1, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t2, t1, s[0]);
    s[1] = __fadd_rn(s[1], t2);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = -t1;
    const float t3 = __fmul_rn(m[1], v[0]);
    const float t4 = __fmaf_rn(t2, c[2], t3);
    const float t5 = __fsub_rn(t4, c[3]);
    const float t6 = __fmul_rn(c[0], t5);
    o[0] = t6;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_4a6f3d3c(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_4a6f3d3c>(p);
}

struct formula_layer_norm_backward_rows_7c651644 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 4, row_sums = 2;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[1][row];
    c[1] = p.column_vectors[0][row];
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t2, t1, s[0]);
    s[1] = __fadd_rn(s[1], t2);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = -t1;
    const float t3 = __fmul_rn(m[1], v[0]);
    const float t4 = __fmaf_rn(t2, c[2], t3);
    const float t5 = __fsub_rn(t4, c[3]);
    const float t6 = __fmul_rn(c[0], t5);
    o[0] = t6;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_backward_rows_7c651644(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_backward_rows_7c651644>(p);
}

struct formula_layer_norm_forward_rows_07fc397a {
  static constexpr int matrices = 1, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    s[0] = __fadd_rn(s[0], m[0]);
    }
    if constexpr (Which == 1) {
    const float t0 = __fsub_rn(m[0], c[0]);
    s[0] = __fmaf_rn(t0, t0, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[0]);
    const float t1 = __fmul_rn(t0, c[1]);
    const float t2 = __fmul_rn(t1, v[0]);
    o[0] = t2;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_07fc397a(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_07fc397a>(p);
}

struct formula_layer_norm_forward_rows_1633ca68 {
  static constexpr int matrices = 1, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    s[0] = __fadd_rn(s[0], m[0]);
    }
    if constexpr (Which == 1) {
    const float t0 = __fsub_rn(m[0], c[0]);
    s[0] = __fmaf_rn(t0, t0, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[0]);
    const float t1 = __fmul_rn(t0, c[1]);
    const float t2 = __fadd_rn(t1, v[0]);
    o[0] = t2;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_1633ca68(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_1633ca68>(p);
}

struct formula_layer_norm_forward_rows_1a624bef {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    s[0] = __fadd_rn(s[0], t1);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    s[0] = __fmaf_rn(t2, t2, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    const float t3 = __fmul_rn(t2, c[1]);
    const float t4 = __fmul_rn(t3, v[0]);
    o[0] = t4;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_1a624bef(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_1a624bef>(p);
}

struct formula_layer_norm_forward_rows_5f18606f {
  static constexpr int matrices = 2, row_vectors = 2, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
    v[1] = composed_vector(p, 1, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    s[0] = __fadd_rn(s[0], t0);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fsub_rn(t0, c[0]);
    s[0] = __fmaf_rn(t1, t1, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fsub_rn(t0, c[0]);
    const float t2 = __fmul_rn(t1, c[1]);
    const float t3 = __fmaf_rn(t2, v[0], v[1]);
    o[0] = t3;
    o[1] = t0;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_5f18606f(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_5f18606f>(p);
}

struct formula_layer_norm_forward_rows_605c1195 {
  static constexpr int matrices = 2, row_vectors = 2, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
    v[1] = composed_vector(p, 1, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    s[0] = __fadd_rn(s[0], t1);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    s[0] = __fmaf_rn(t2, t2, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    const float t3 = __fmul_rn(t2, c[1]);
    const float t4 = __fmaf_rn(t3, v[0], v[1]);
    o[0] = t4;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_605c1195(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_605c1195>(p);
}

struct formula_layer_norm_forward_rows_687fa8fb {
  static constexpr int matrices = 1, row_vectors = 2, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    v[0] = composed_vector(p, 0, column);
    v[1] = composed_vector(p, 1, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    s[0] = __fadd_rn(s[0], m[0]);
    }
    if constexpr (Which == 1) {
    const float t0 = __fsub_rn(m[0], c[0]);
    s[0] = __fmaf_rn(t0, t0, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[0]);
    const float t1 = __fmul_rn(t0, c[1]);
    const float t2 = __fmaf_rn(t1, v[0], v[1]);
    o[0] = t2;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_687fa8fb(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_687fa8fb>(p);
}

struct formula_layer_norm_forward_rows_88b5ddf8 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    s[0] = __fadd_rn(s[0], t0);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fsub_rn(t0, c[0]);
    s[0] = __fmaf_rn(t1, t1, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fsub_rn(t0, c[0]);
    const float t2 = __fmul_rn(t1, c[1]);
    o[0] = t2;
    o[1] = t0;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_88b5ddf8(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_88b5ddf8>(p);
}

struct formula_layer_norm_forward_rows_8bee848a {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    s[0] = __fadd_rn(s[0], t0);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fsub_rn(t0, c[0]);
    s[0] = __fmaf_rn(t1, t1, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fsub_rn(t0, c[0]);
    const float t2 = __fmul_rn(t1, c[1]);
    const float t3 = __fmul_rn(t2, v[0]);
    o[0] = t3;
    o[1] = t0;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_8bee848a(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_8bee848a>(p);
}

struct formula_layer_norm_forward_rows_8cec002e {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    s[0] = __fadd_rn(s[0], t1);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    s[0] = __fmaf_rn(t2, t2, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    const float t3 = __fmul_rn(t2, c[1]);
    o[0] = t3;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_8cec002e(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_8cec002e>(p);
}

struct formula_layer_norm_forward_rows_a24533f8 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    s[0] = __fadd_rn(s[0], t1);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    s[0] = __fmaf_rn(t2, t2, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    const float t3 = __fmul_rn(t2, c[1]);
    const float t4 = __fadd_rn(t3, v[0]);
    o[0] = t4;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_a24533f8(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_a24533f8>(p);
}

struct formula_layer_norm_forward_rows_a9ea2ff0 {
  static constexpr int matrices = 2, row_vectors = 2, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
    v[1] = composed_vector(p, 1, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    s[0] = __fadd_rn(s[0], t1);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    s[0] = __fmaf_rn(t2, t2, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    const float t3 = __fmul_rn(t2, c[1]);
    const float t4 = __fmaf_rn(t3, v[0], v[1]);
    o[0] = t4;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_a9ea2ff0(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_a9ea2ff0>(p);
}

struct formula_layer_norm_forward_rows_abcbf5b2 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    s[0] = __fadd_rn(s[0], t1);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    s[0] = __fmaf_rn(t2, t2, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    const float t3 = __fmul_rn(t2, c[1]);
    o[0] = t3;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_abcbf5b2(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_abcbf5b2>(p);
}

struct formula_layer_norm_forward_rows_b7eb709e {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    s[0] = __fadd_rn(s[0], t1);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    s[0] = __fmaf_rn(t2, t2, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    const float t3 = __fmul_rn(t2, c[1]);
    const float t4 = __fadd_rn(t3, v[0]);
    o[0] = t4;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_b7eb709e(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_b7eb709e>(p);
}

struct formula_layer_norm_forward_rows_c0bbcb67 {
  static constexpr int matrices = 1, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    s[0] = __fadd_rn(s[0], m[0]);
    }
    if constexpr (Which == 1) {
    const float t0 = __fsub_rn(m[0], c[0]);
    s[0] = __fmaf_rn(t0, t0, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[0], c[0]);
    const float t1 = __fmul_rn(t0, c[1]);
    o[0] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_c0bbcb67(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_c0bbcb67>(p);
}

struct formula_layer_norm_forward_rows_d53234e1 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    s[0] = __fadd_rn(s[0], t0);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fsub_rn(t0, c[0]);
    s[0] = __fmaf_rn(t1, t1, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fsub_rn(t0, c[0]);
    const float t2 = __fmul_rn(t1, c[1]);
    const float t3 = __fadd_rn(t2, v[0]);
    o[0] = t3;
    o[1] = t0;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_d53234e1(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_d53234e1>(p);
}

struct formula_layer_norm_forward_rows_d8a33273 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 2, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    if constexpr (Which == 0) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    s[0] = __fadd_rn(s[0], t1);
    }
    if constexpr (Which == 1) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    s[0] = __fmaf_rn(t2, t2, s[0]);
    }
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fsub_rn(t1, c[0]);
    const float t3 = __fmul_rn(t2, c[1]);
    const float t4 = __fmul_rn(t3, v[0]);
    o[0] = t4;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
    p.column_outputs[1][row] = c[1];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    layer_norm_forward_rows_d8a33273(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_layer_norm_forward_rows_d8a33273>(p);
}

struct formula_rms_norm_backward_columns_0b0b7445 {
  static constexpr int matrices = 4, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 0, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[2] = composed_matrix(p, 2, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t2 = __fmul_rn(m[2], t1);
    const float t3 = __fmul_rn(m[1], t2);
    q[0] = __fmaf_rn(t3, t0, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_columns_0b0b7445(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_rms_norm_backward_columns_0b0b7445>(p);
}

struct formula_rms_norm_backward_columns_1bdf93cd {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fmul_rn(m[0], c[0]);
    q[0] = __fmaf_rn(m[1], t0, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_columns_1bdf93cd(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_rms_norm_backward_columns_1bdf93cd>(p);
}

struct formula_rms_norm_backward_columns_7b292cb1 {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 0, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fmul_rn(m[0], c[0]);
    q[0] = __fmaf_rn(m[1], t0, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_columns_7b292cb1(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_rms_norm_backward_columns_7b292cb1>(p);
}

struct formula_rms_norm_backward_columns_cdadf286 {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 0, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[2] = composed_matrix(p, 2, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t2 = __fmul_rn(m[2], t1);
    const float t3 = __fmul_rn(m[1], t2);
    q[0] = __fmaf_rn(t3, t0, q[0]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_columns_cdadf286(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_rms_norm_backward_columns_cdadf286>(p);
}

struct formula_rms_norm_backward_rows_04c680b0 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t1, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = __fmul_rn(m[1], v[0]);
    const float t3 = __fmaf_rn(t1, c[1], t2);
    const float t4 = __fmul_rn(c[0], t3);
    o[0] = t4;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_04c680b0(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_04c680b0>(p);
}

struct formula_rms_norm_backward_rows_1af4289f {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    s[0] = __fmaf_rn(m[1], t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = __fmaf_rn(t1, c[1], m[1]);
    const float t3 = __fmul_rn(c[0], t2);
    o[0] = t3;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_1af4289f(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_1af4289f>(p);
}

struct formula_rms_norm_backward_rows_29dd4e4e {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = __fadd_rn(0x1p+0f, v[0]);
    const float t2 = __fmul_rn(m[1], t1);
    s[0] = __fmaf_rn(t2, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = __fadd_rn(0x1p+0f, v[0]);
    const float t3 = __fmul_rn(m[1], t2);
    const float t4 = __fmaf_rn(t1, c[1], t3);
    const float t5 = __fmul_rn(c[0], t4);
    o[0] = t5;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_29dd4e4e(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_29dd4e4e>(p);
}

struct formula_rms_norm_backward_rows_49416fb2 {
  static constexpr int matrices = 4, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[2] = composed_matrix(p, 2, row, column);
    v[0] = composed_vector(p, 0, column);
    m[3] = composed_matrix(p, 3, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t2 = __fmul_rn(m[2], t1);
    const float t3 = __fmul_rn(m[1], t2);
    const float t4 = __fadd_rn(0x1p+0f, v[0]);
    const float t5 = __fmul_rn(t3, t4);
    s[0] = __fmaf_rn(t5, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t3 = __fmul_rn(m[2], t2);
    const float t4 = __fmul_rn(m[1], t3);
    const float t5 = __fadd_rn(0x1p+0f, v[0]);
    const float t6 = __fmul_rn(t4, t5);
    const float t7 = __fmaf_rn(t1, c[1], t6);
    const float t8 = __fmul_rn(c[0], t7);
    const float t9 = __fadd_rn(t8, m[3]);
    const float t10 = __fmul_rn(t0, t5);
    const float t11 = __fmul_rn(m[1], t10);
    const float t12 = __fsub_rn(0x1p+0f, t2);
    const float t13 = __fmaf_rn(m[2], t12, 0x1p+0f);
    const float t14 = __fmul_rn(t2, t13);
    const float t15 = __fmul_rn(t11, t14);
    o[0] = t9;
    o[1] = t15;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_49416fb2(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_49416fb2>(p);
}

struct formula_rms_norm_backward_rows_602da6a5 {
  static constexpr int matrices = 4, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[2] = composed_matrix(p, 2, row, column);
    v[0] = composed_vector(p, 0, column);
    m[3] = composed_matrix(p, 3, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t2 = __fmul_rn(m[2], t1);
    const float t3 = __fmul_rn(m[1], t2);
    const float t4 = __fmul_rn(t3, v[0]);
    s[0] = __fmaf_rn(t4, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t3 = __fmul_rn(m[2], t2);
    const float t4 = __fmul_rn(m[1], t3);
    const float t5 = __fmul_rn(t4, v[0]);
    const float t6 = __fmaf_rn(t1, c[1], t5);
    const float t7 = __fmul_rn(c[0], t6);
    const float t8 = __fadd_rn(t7, m[3]);
    const float t9 = __fmul_rn(t0, v[0]);
    const float t10 = __fmul_rn(m[1], t9);
    const float t11 = __fsub_rn(0x1p+0f, t2);
    const float t12 = __fmaf_rn(m[2], t11, 0x1p+0f);
    const float t13 = __fmul_rn(t2, t12);
    const float t14 = __fmul_rn(t10, t13);
    o[0] = t8;
    o[1] = t14;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_602da6a5(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_602da6a5>(p);
}

struct formula_rms_norm_backward_rows_610a2850 {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[2] = composed_matrix(p, 2, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t2 = __fmul_rn(m[2], t1);
    const float t3 = __fmul_rn(m[1], t2);
    const float t4 = __fadd_rn(0x1p+0f, v[0]);
    const float t5 = __fmul_rn(t3, t4);
    s[0] = __fmaf_rn(t5, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
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
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_610a2850(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_610a2850>(p);
}

struct formula_rms_norm_backward_rows_79ccae2b {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
    m[2] = composed_matrix(p, 2, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = __fmul_rn(m[1], v[0]);
    s[0] = __fmaf_rn(t1, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = __fmul_rn(m[1], v[0]);
    const float t3 = __fmaf_rn(t1, c[1], t2);
    const float t4 = __fmul_rn(c[0], t3);
    const float t5 = __fadd_rn(t4, m[2]);
    o[0] = t5;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_79ccae2b(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_79ccae2b>(p);
}

struct formula_rms_norm_backward_rows_7ec90d49 {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
    m[2] = composed_matrix(p, 2, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = __fadd_rn(0x1p+0f, v[0]);
    const float t2 = __fmul_rn(m[1], t1);
    s[0] = __fmaf_rn(t2, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = __fadd_rn(0x1p+0f, v[0]);
    const float t3 = __fmul_rn(m[1], t2);
    const float t4 = __fmaf_rn(t1, c[1], t3);
    const float t5 = __fmul_rn(c[0], t4);
    const float t6 = __fadd_rn(t5, m[2]);
    o[0] = t6;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_7ec90d49(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_7ec90d49>(p);
}

struct formula_rms_norm_backward_rows_89d11117 {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[2] = composed_matrix(p, 2, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t2 = __fmul_rn(m[2], t1);
    const float t3 = __fmul_rn(m[1], t2);
    const float t4 = __fmul_rn(t3, v[0]);
    s[0] = __fmaf_rn(t4, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t3 = __fmul_rn(m[2], t2);
    const float t4 = __fmul_rn(m[1], t3);
    const float t5 = __fmul_rn(t4, v[0]);
    const float t6 = __fmaf_rn(t1, c[1], t5);
    const float t7 = __fmul_rn(c[0], t6);
    const float t8 = __fmul_rn(t0, v[0]);
    const float t9 = __fmul_rn(m[1], t8);
    const float t10 = __fsub_rn(0x1p+0f, t2);
    const float t11 = __fmaf_rn(m[2], t10, 0x1p+0f);
    const float t12 = __fmul_rn(t2, t11);
    const float t13 = __fmul_rn(t9, t12);
    o[0] = t7;
    o[1] = t13;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_89d11117(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_89d11117>(p);
}

struct formula_rms_norm_backward_rows_8ac8f168 {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[2] = composed_matrix(p, 2, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t2 = __fmul_rn(m[2], t1);
    const float t3 = __fmul_rn(m[1], t2);
    s[0] = __fmaf_rn(t3, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t3 = __fmul_rn(m[2], t2);
    const float t4 = __fmul_rn(m[1], t3);
    const float t5 = __fmaf_rn(t1, c[1], t4);
    const float t6 = __fmul_rn(c[0], t5);
    const float t7 = __fmul_rn(m[1], t0);
    const float t8 = __fsub_rn(0x1p+0f, t2);
    const float t9 = __fmaf_rn(m[2], t8, 0x1p+0f);
    const float t10 = __fmul_rn(t2, t9);
    const float t11 = __fmul_rn(t7, t10);
    o[0] = t6;
    o[1] = t11;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_8ac8f168(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_8ac8f168>(p);
}

struct formula_rms_norm_backward_rows_b85658cc {
  static constexpr int matrices = 4, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[2] = composed_matrix(p, 2, row, column);
    m[3] = composed_matrix(p, 3, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t2 = __fmul_rn(m[2], t1);
    const float t3 = __fmul_rn(m[1], t2);
    s[0] = __fmaf_rn(t3, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = kiln::mix_order_reduction::Functions::sigmoid(m[2]);
    const float t3 = __fmul_rn(m[2], t2);
    const float t4 = __fmul_rn(m[1], t3);
    const float t5 = __fmaf_rn(t1, c[1], t4);
    const float t6 = __fmul_rn(c[0], t5);
    const float t7 = __fadd_rn(t6, m[3]);
    const float t8 = __fmul_rn(m[1], t0);
    const float t9 = __fsub_rn(0x1p+0f, t2);
    const float t10 = __fmaf_rn(m[2], t9, 0x1p+0f);
    const float t11 = __fmul_rn(t2, t10);
    const float t12 = __fmul_rn(t8, t11);
    o[0] = t7;
    o[1] = t12;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_b85658cc(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_b85658cc>(p);
}

struct formula_rms_norm_backward_rows_d375ba5e {
  static constexpr int matrices = 3, row_vectors = 1, row_values = 2, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[2] = composed_matrix(p, 2, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    c[1] = t0;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    s[0] = __fmaf_rn(m[1], t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = __fmaf_rn(t1, c[1], m[1]);
    const float t3 = __fmul_rn(c[0], t2);
    const float t4 = __fadd_rn(t3, m[2]);
    o[0] = t4;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward_rows_d375ba5e(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_backward_rows_d375ba5e>(p);
}

struct formula_rms_norm_forward_rows_3fb20925 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    s[0] = __fmaf_rn(t1, t1, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fmul_rn(t1, c[0]);
    o[0] = t2;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_3fb20925(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_3fb20925>(p);
}

struct formula_rms_norm_forward_rows_48fe6550 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fadd_rn(m[0], m[1]);
    s[0] = __fmaf_rn(t0, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    o[0] = t1;
    o[1] = t0;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_48fe6550(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_48fe6550>(p);
}

struct formula_rms_norm_forward_rows_5c0b27cf {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    s[0] = __fmaf_rn(t1, t1, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fmul_rn(t1, c[0]);
    const float t3 = __fadd_rn(0x1p+0f, v[0]);
    const float t4 = __fmul_rn(t2, t3);
    o[0] = t4;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_5c0b27cf(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_5c0b27cf>(p);
}

struct formula_rms_norm_forward_rows_74155cc3 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    s[0] = __fmaf_rn(t1, t1, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fmul_rn(t1, c[0]);
    const float t3 = __fmul_rn(t2, v[0]);
    o[0] = t3;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_74155cc3(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_74155cc3>(p);
}

struct formula_rms_norm_forward_rows_8f7a99d2 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    s[0] = __fmaf_rn(t1, t1, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fmul_rn(t1, c[0]);
    const float t3 = __fadd_rn(0x1p+0f, v[0]);
    const float t4 = __fmul_rn(t2, t3);
    o[0] = t4;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_8f7a99d2(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_8f7a99d2>(p);
}

struct formula_rms_norm_forward_rows_9227c11d {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    s[0] = __fmaf_rn(t1, t1, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::f16::load(kiln::f16::round(t0));
    const float t2 = __fmul_rn(t1, c[0]);
    const float t3 = __fmul_rn(t2, v[0]);
    o[0] = t3;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_9227c11d(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_9227c11d>(p);
}

struct formula_rms_norm_forward_rows_b72f7379 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fadd_rn(m[0], m[1]);
    s[0] = __fmaf_rn(t0, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = __fmul_rn(t1, v[0]);
    o[0] = t2;
    o[1] = t0;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_b72f7379(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_b72f7379>(p);
}

struct formula_rms_norm_forward_rows_cc548c32 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fadd_rn(m[0], m[1]);
    s[0] = __fmaf_rn(t0, t0, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = __fmul_rn(t0, c[0]);
    const float t2 = __fadd_rn(0x1p+0f, v[0]);
    const float t3 = __fmul_rn(t1, t2);
    o[0] = t3;
    o[1] = t0;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_cc548c32(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_cc548c32>(p);
}

struct formula_rms_norm_forward_rows_cfcf159d {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 2, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    s[0] = __fmaf_rn(t1, t1, s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fadd_rn(m[0], m[1]);
    const float t1 = kiln::bf16::load(kiln::bf16::round(t0));
    const float t2 = __fmul_rn(t1, c[0]);
    o[0] = t2;
    o[1] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_cfcf159d(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_cfcf159d>(p);
}

struct formula_rms_norm_forward_rows_d8f02239 {
  static constexpr int matrices = 1, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    s[0] = __fmaf_rn(m[0], m[0], s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = __fmul_rn(t0, v[0]);
    o[0] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_d8f02239(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_d8f02239>(p);
}

struct formula_rms_norm_forward_rows_ec986f34 {
  static constexpr int matrices = 1, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    s[0] = __fmaf_rn(m[0], m[0], s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    o[0] = t0;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_ec986f34(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_ec986f34>(p);
}

struct formula_rms_norm_forward_rows_f7ebd3f1 {
  static constexpr int matrices = 1, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    v[0] = composed_vector(p, 0, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    const float t0 = __fmul_rn(s[0], inverse_n);
    const float t1 = __fadd_rn(t0, u[0]);
    const float t2 = __fsqrt_rn(t1);
    const float t3 = __fdiv_rn(0x1p+0f, t2);
    c[0] = t3;
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    s[0] = __fmaf_rn(m[0], m[0], s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = __fadd_rn(0x1p+0f, v[0]);
    const float t2 = __fmul_rn(t0, t1);
    o[0] = t2;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
    p.column_outputs[0][row] = c[0];
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_forward_rows_f7ebd3f1(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_forward_rows_f7ebd3f1>(p);
}

struct formula_rms_norm_pair_backward_columns_7c402bde {
  static constexpr int matrices = 6, row_vectors = 2, row_values = 4, row_sums = 1;
  static constexpr int passes = 0, outputs = 2, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[2] = composed_matrix(p, 2, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[3] = composed_matrix(p, 3, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
    c[1] = p.column_vectors[1][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = __fmul_rn(m[1], c[1]);
    q[0] = __fmaf_rn(m[2], t0, q[0]);
    q[1] = __fmaf_rn(m[3], t1, q[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_pair_backward_columns_7c402bde(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_rms_norm_pair_backward_columns_7c402bde>(p);
}

struct formula_rms_norm_pair_backward_columns_8d2941dd {
  static constexpr int matrices = 4, row_vectors = 2, row_values = 4, row_sums = 1;
  static constexpr int passes = 0, outputs = 2, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[2] = composed_matrix(p, 2, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[3] = composed_matrix(p, 3, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
    c[1] = p.column_vectors[1][row];
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = __fmul_rn(m[1], c[1]);
    q[0] = __fmaf_rn(m[2], t0, q[0]);
    q[1] = __fmaf_rn(m[3], t1, q[1]);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_pair_backward_columns_8d2941dd(const __grid_constant__ ReductionParameters p) {
  composed_columns<formula_rms_norm_pair_backward_columns_8d2941dd>(p);
}

struct formula_rms_norm_pair_backward_rows_13819b8e {
  static constexpr int matrices = 4, row_vectors = 2, row_values = 4, row_sums = 2;
  static constexpr int passes = 1, outputs = 2, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[2] = composed_matrix(p, 2, row, column);
    v[0] = composed_vector(p, 0, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[3] = composed_matrix(p, 3, row, column);
    v[1] = composed_vector(p, 1, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
    c[1] = p.column_vectors[1][row];
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = __fmul_rn(m[2], v[0]);
    const float t2 = __fmul_rn(m[1], c[1]);
    const float t3 = __fmul_rn(m[3], v[1]);
    s[0] = __fmaf_rn(t1, t0, s[0]);
    s[1] = __fmaf_rn(t3, t2, s[1]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = __fmul_rn(m[2], v[0]);
    const float t3 = __fmaf_rn(t1, c[2], t2);
    const float t4 = __fmul_rn(c[0], t3);
    const float t5 = __fmul_rn(m[1], c[1]);
    const float t6 = -t5;
    const float t7 = __fmul_rn(m[3], v[1]);
    const float t8 = __fmaf_rn(t6, c[3], t7);
    const float t9 = __fmul_rn(c[1], t8);
    o[0] = t4;
    o[1] = t9;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_pair_backward_rows_13819b8e(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_pair_backward_rows_13819b8e>(p);
}

struct formula_rms_norm_pair_backward_rows_91a1785e {
  static constexpr int matrices = 6, row_vectors = 2, row_values = 4, row_sums = 2;
  static constexpr int passes = 1, outputs = 2, column_sums = 2;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[2] = composed_matrix(p, 2, row, column);
    v[0] = composed_vector(p, 0, column);
    m[4] = composed_matrix(p, 4, row, column);
    m[1] = composed_matrix(p, 1, row, column);
    m[3] = composed_matrix(p, 3, row, column);
    v[1] = composed_vector(p, 1, column);
    m[5] = composed_matrix(p, 5, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
    c[0] = p.column_vectors[0][row];
    c[1] = p.column_vectors[1][row];
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
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = __fmul_rn(m[2], v[0]);
    const float t2 = __fmul_rn(m[1], c[1]);
    const float t3 = __fmul_rn(m[3], v[1]);
    s[0] = __fmaf_rn(t1, t0, s[0]);
    s[1] = __fmaf_rn(t3, t2, s[1]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fmul_rn(m[0], c[0]);
    const float t1 = -t0;
    const float t2 = __fmul_rn(m[2], v[0]);
    const float t3 = __fmaf_rn(t1, c[2], t2);
    const float t4 = __fmul_rn(c[0], t3);
    const float t5 = __fadd_rn(t4, m[4]);
    const float t6 = __fmul_rn(m[1], c[1]);
    const float t7 = -t6;
    const float t8 = __fmul_rn(m[3], v[1]);
    const float t9 = __fmaf_rn(t7, c[3], t8);
    const float t10 = __fmul_rn(c[1], t9);
    const float t11 = __fadd_rn(t10, m[5]);
    o[0] = t5;
    o[1] = t11;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
    store_element(p.outputs[1].base, row * p.outputs[1].stride + column, p.output_types[1], o[1]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_pair_backward_rows_91a1785e(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_rms_norm_pair_backward_rows_91a1785e>(p);
}

struct formula_softmax_backward_columns_5ab3c0ac {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static constexpr kiln::mix_order_reduction::Join column_join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    c[0] = s[0];
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    s[0] = __fmaf_rn(m[1], m[0], s[0]);
  }
  static void add_columns(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* q) {
    const float t0 = __fsub_rn(m[1], c[0]);
    const float t1 = __fmul_rn(m[0], t0);
    q[0] = __fadd_rn(q[0], t1);
  }
};
extern "C" __global__ void __launch_bounds__(256)
    softmax_backward_columns_5ab3c0ac(const __grid_constant__ ReductionParameters p) {
  composed_blocks<formula_softmax_backward_columns_5ab3c0ac>(p);
}

struct formula_softmax_backward_rows_e3cafe25 {
  static constexpr int matrices = 2, row_vectors = 1, row_values = 1, row_sums = 1;
  static constexpr int passes = 1, outputs = 1, column_sums = 1;
  static constexpr kiln::mix_order_reduction::Join join(int) { return kiln::mix_order_reduction::Join::sum; }
  static void load(const ReductionParameters& p, long long row, long long column, float* m, float* v) {
    m[0] = composed_matrix(p, 0, row, column);
    m[1] = composed_matrix(p, 1, row, column);
  }
  static void load_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, float* c) {
  }
  template <int Which>
  static void know(const float* s, const float* u, float inverse_n, float* c) {
    if constexpr (Which == 1) {
    c[0] = s[0];
    }
  }
  template <int Which>
  static void reduce(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* s) {
    s[0] = __fmaf_rn(m[1], m[0], s[0]);
  }
  static void output(const float* m, const float* v, const float* c, const float* u, float inverse_n, float* o) {
    const float t0 = __fsub_rn(m[1], c[0]);
    const float t1 = __fmul_rn(m[0], t0);
    o[0] = t1;
  }
  static void write(const ReductionParameters& p, long long row, long long column, const float* o) {
    store_element(p.outputs[0].base, row * p.outputs[0].stride + column, p.output_types[0], o[0]);
  }
  static void write_row(const kiln::mix_order_reduction::ReductionParameters& p, long long row, const float* c) {
  }
};
extern "C" __global__ void __launch_bounds__(256)
    softmax_backward_rows_e3cafe25(const __grid_constant__ ReductionParameters p) {
  composed_rows<formula_softmax_backward_rows_e3cafe25>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    finish(const __grid_constant__ ReductionParameters p) {
  composed_finish(p);
}
