// The ways to lay a row out over threads, best first, and what each needs of the register file.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/candidates.hpp"

#include <algorithm>
#include <utility>

#include "kernels/mix_order_reduction/formula.hpp"

namespace kiln::mix_order_reduction {
namespace {

// What the kernel needs beside its arrays: addresses, counters, unpacked elements. Measured with
// NVRTC 13.0 on sm_90a: 28 words of arrays compile to 64 registers without a spill, 40 to 80, 80 to
// 128.
constexpr int kWorkingRegisters = 40;

int words(DType type) { return size_bytes(type) * kVector / 4; }

int round_up_32(std::int64_t value) { return static_cast<int>(ceil_div(value, 32) * 32); }

// Rows a step so that the loads an SM starts at once come to this: less leaves the memory idle
// between steps, more makes the steps too coarse to share it evenly. Measured on an H200 for widths
// from 2,880 to 16,384.
constexpr std::int64_t kStepBytesPerSm = 32 * 1024;

int rows_per_step(const Geometry& g, int kept, int ctas) {
  const std::int64_t row_bytes =
      kept * g.element_bytes *
      (cta_row(g.n) ? g.n : static_cast<std::int64_t>(kVector) * octets(g) * g.threads);
  int rows = 1;
  while (rows < 4 && rows * row_bytes * ctas < kStepBytesPerSm * 9 / 10) rows *= 2;
  return rows;
}

// What the functions of elementary.hpp hold at once, beside their operand.
constexpr int kFunctionRegisters = 8;

int count(const std::vector<int>& list) { return static_cast<int>(list.size()); }

// Where the passes share what they compute of an octet: it lives in fp32 from one to the next.
// Fitted to 744 kernels of all ops that NVRTC 13.0 compiled for sm_90a: rejects all 99 that spilled
// and 34 that did not.
int registers_shared(const Op& op, const Candidate& c, int vector_words) {
  const Shape& shape = op.shape;
  const DType type = matrix_type(op);
  const int owned = octets(c.geometry), rows = c.geometry.rows_per_step, octet_rows = rows * owned;
  const int octet = type == DType::f32 ? 15 : 10;
  int needed = 1 + kVector * owned * count(shape.column_sums) + vector_words * owned;
  needed += shape.kept_matrices * (3 + octet * octet_rows);
  needed += 3 * count(shape.row_values) * rows + 4 * count(shape.outputs) * owned;
  needed +=
      4 * static_cast<int>(shape.passes.size() > 1 ? shape.passes.size() - 1 : 0) * octet_rows;
  // Matrices that only outputs need: one hides behind what the sums no longer hold.
  const int others = count(shape.matrices) - shape.kept_matrices;
  if (others > 1) needed += others * (words(type) + 2);
  if (type == DType::f16) needed += 3 * octet_rows;
  if (has_functions(op.program)) needed += 7 * octet_rows;
  if (!cta_row(op.n)) needed += 12 + rows * shape.loaded_values;  // held from step to step
  if (op.n % kVector != 0) needed += 8;
  return needed;
}

// Where passes read shared memory anew and a thread has one lane: nothing but what a row shares
// lives from one octet to the next. Fitted to 900 kernels of all ops that NVRTC 13.0 compiled for
// sm_90a: rejects all 49 that spilled and 12 of the others.
int registers_anew(const Op& op, const Candidate& c, int vector_words) {
  const Shape& shape = op.shape;
  const int owned = octets(c.geometry);
  int needed = 20 + kVector * owned * count(shape.column_sums);
  needed += 2 * std::max(shape.kept_matrices - 2, 0) + 19 * shape.most_row_sums() * owned / 8;
  needed += 19 * words(matrix_type(op)) * std::max(count(shape.outputs) - 1, 0) / 8;
  vector_words *= c.row_vectors_in_registers ? owned : 1;
  if (op.n % kVector == 0) return needed + vector_words * 3 / 2;
  return needed + vector_words + 11 + 3 * count(shape.row_values) * c.geometry.rows_per_step / 2;
}

}  // namespace

DType matrix_type(const Op& op) { return input_of(op.program, op.shape.matrices[0]).type; }

bool one_matrix_type(const Op& op) {
  const DType type = matrix_type(op);
  return std::all_of(op.shape.matrices.begin(),
                     op.shape.matrices.end(),
                     [&](int i) { return input_of(op.program, i).type == type; }) &&
         std::all_of(op.shape.outputs.begin(), op.shape.outputs.end(), [&](int o) {
           return output_of(op.program, o).tensor.type == type;
         });
}

int registers_needed(const Op& op, const Candidate& c) {
  const Shape& shape = op.shape;
  const int owned = octets(c.geometry), rows = c.geometry.rows_per_step;
  const int element = words(matrix_type(op));
  int vector_words = 0;
  for (const int i : shape.row_vectors) vector_words += words(input_of(op.program, i).type);
  if (c.keep_inputs && owned < 4) return registers_shared(op, c, vector_words);
  if (!c.keep_inputs && cta_row(op.n) && c.geometry.lanes_per_thread == 1)
    return registers_anew(op, c, vector_words);
  int needed = kWorkingRegisters;
  needed += kVector * owned * count(shape.column_sums);
  needed += vector_words * (c.row_vectors_in_registers ? owned : 1);
  if (c.keep_inputs) {
    needed += rows * owned * shape.kept_matrices * element;
  } else {
    // Both passes unpack anew, and their addresses stay live: 252 by the rest of this sum and 12
    // spilled at 255.
    needed += shape.kept_matrices * element + 16;
  }
  needed += (count(shape.matrices) - shape.kept_matrices) * element;
  needed += std::max(count(shape.outputs) - 1, 0) * element;
  if (has_functions(op.program)) needed += kFunctionRegisters;
  // Beyond one row sum and one row value, which the working registers hold: the lanes' sums and the
  // row's; this step's values.
  // Several rows at once, or many columns, compile to more: 122 and 125 by the rest of this sum
  // spilled at 128.
  needed += (shape.most_row_sums() - 1) * (rows * (lanes_per_thread(c.geometry) + 1) +
                                           8 * (rows - 1) + 4 * std::max(owned - 2, 0));
  const int values = count(shape.row_values) - shape.most_row_sums();
  needed += std::max(values - 1, 0) * rows;
  // Paths for the last columns of every matrix: 234 without the second term spilled at 255.
  if (op.n % kVector != 0)
    needed += 8 + 5 * std::max(count(shape.matrices) + count(shape.outputs) - 3, 0);
  return needed;
}

// The per-thread limit that __launch_bounds__(threads, ctas) makes the compiler keep: allocation is
// in units of 8, and warps are dealt to the four parts of an SM, each with a quarter of the file.
int registers_allowed(const DeviceLimits& limits, int threads, int ctas) {
  constexpr std::int64_t kPartsOfSm = 4;
  const std::int64_t warps = ceil_div(static_cast<std::int64_t>(threads) * ctas, 32);
  const std::int64_t resident = ceil_div(warps, kPartsOfSm) * kPartsOfSm * 32;
  const int allowed = static_cast<int>(limits.registers_per_sm / resident / 8 * 8);
  return std::min(allowed, limits.registers_per_thread);
}

namespace {

// Lists thread shapes for a width, preferred first. Resident CTAs are 4, 2 or 1 an SM, so that they
// divide the row blocks.
class Shapes {
 public:
  explicit Shapes(const Op& op)
      : op_(op),
        base_{.n = op.n,
              .element_bytes = size_bytes(matrix_type(op)),
              .inputs = static_cast<int>(op.shape.matrices.size()),
              .row_sums = op.shape.most_row_sums()},
        kept_(op.shape.kept_matrices > 0 ? op.shape.kept_matrices : base_.inputs),
        sums_(count(op.shape.column_sums)) {}

  std::vector<Candidate> list() {
    if (op_.n > kMaxCtaColumns) {
      wider_than_a_cta();
    } else if (cta_row(op_.n)) {
      cta_a_row();
    } else {
      several_rows_a_cta();
    }
    return std::move(out_);
  }

 private:
  // On an H200, 4,096 x 32,768 in bf16. Clusters of two, two rows a step from one buffer: one
  // column sum 206 us, two 216; one row 214 and 266. One sum in clusters of four 430. Two sums from
  // two stages, few threads: 211 us.
  void wider_than_a_cta() {
    if (sums_ > 0) {
      base_.cluster_ctas = 2;
      for (const bool vectors : {true, false}) add(kMaxLanes / 2, 1, 2, 1, false, vectors);
    }
    if (sums_ > 1) add_few_threads();
    add_cluster(2);
    for (Candidate& c : out_) c.enough_at_one_stage = sums_ == 1;
    add_cluster(4);
    if (sums_ <= 1) add_few_threads();
  }

  void several_rows_a_cta() {
    base_.threads = 256;
    if (sums_ > 1) add_row_a_step(256, 1);
    for (const int ctas : {4, 2, 1}) {
      add_rows(256, 1, ctas);
      if (ctas <= 2) add(256, 1, 1, ctas, false, true);
    }
    add(256, 1, 1, 1, false, false);
  }

  // One lane a thread where registers allow, which is half the code of two and as fast; two CTAs an
  // SM while they fit, since one computes while the other waits.
  void cta_a_row() {
    const std::int64_t used = ceil_div(op_.n, kVector);
    const int one_lane = round_up_32(used), two_lanes = round_up_32(ceil_div(used, 2));
    const bool one_panel = panels(op_.n) == 1;
    if (one_panel) {
      if (used <= 256) {
        for (const int ctas : {4, 2}) add_rows(one_lane, 1, ctas);
      } else if (used <= 512) {
        // Fewer rows cost more than a second lane: 16,384 x 2,880, one stage, 80 us with one row of
        // one lane, 72 with two rows of either.
        if (sums_ > 1 && rows_per_step(base_, kept_, 2) > 1) add_row_a_step(two_lanes, 2);
        for (int rows = rows_per_step(base_, kept_, 2); rows >= 1; rows /= 2) {
          add(one_lane, 1, rows, 2, true, true);
          add(two_lanes, 2, rows, 2, true, true);
        }
      } else {
        // Two sums of a full panel: one lane leaves a thread one register. 2,048 x 8,192, 33.2 us
        // and 32.8.
        if (sums_ > 1 && lanes(op_.n) == used) add_rows(two_lanes, 2, 1);
        add_rows(one_lane, 1, 1);
      }
      add_rows(two_lanes, 2, 1);
    }
    // Two panels of several sums, four octets a thread: 16,384 x 16,384, 596 us; a cluster of two
    // 413 with two stages and 417 with one.
    if (!one_panel && sums_ > 1) add_cluster(2);
    const int threads = one_panel ? two_lanes : 512;
    add(threads, 2, 1, 1, true, true);
    add(threads, 2, 1, 1, false, true);
    add(threads, 2, 1, 1, false, false);
    const std::size_t resort = out_.size();
    if (!one_panel) add_cluster(2);
    if (lanes(op_.n) == kMaxLanes) add_few_threads();
    for (std::size_t i = resort; i < out_.size(); ++i)
      out_[i].last_resort = out_[i].geometry.cluster_ctas > 1;
  }

  void add(int threads, int lanes_a_thread, int rows, int ctas, bool keep, bool weight) {
    Geometry g = base_;
    g.threads = threads;
    g.lanes_per_thread = lanes_a_thread;
    g.rows_per_step = rows;
    out_.push_back({g, ctas, keep, weight});
  }

  // Two sums, two CTAs an SM: rows one at a time from two stages rather than two from one. 16,384 x
  // 2,880, 72.0 us and 73.8; 655,360 x 128, 129.2 either way.
  void add_row_a_step(int threads, int lanes_a_thread) {
    add(threads, lanes_a_thread, 1, 2, true, true);
    out_.back().least_stages = 2;
  }

  void add_rows(int threads, int lanes_a_thread, int ctas) {
    for (int rows = rows_per_step(base_, kept_, ctas); rows >= 1; rows /= 2)
      add(threads, lanes_a_thread, rows, ctas, true, true);
  }

  // 1,024 lanes over the CTAs of a cluster, one a thread: two CTAs where their registers hold the
  // column sums, else four, whose threads may use twice as many.
  void add_cluster(int ctas) {
    base_.cluster_ctas = ctas;
    const int threads = kMaxLanes / ctas;
    add(threads, 1, 1, 1, true, true);
    add(threads, 1, 1, 1, false, true);
    add(threads, 1, 1, 1, false, false);
    base_.cluster_ctas = 1;
  }

  // For many matrices and column sums: the most registers a thread can have, so as few threads as
  // hold the lanes; clusters first, since they leave room for a second stage.
  void add_few_threads() {
    for (const int ctas : {2, 4, 1}) {
      base_.cluster_ctas = ctas;
      for (const bool vectors : {true, false})
        add(256, kMaxLanes / 256 / ctas, 1, 1, false, vectors);
    }
    base_.cluster_ctas = 1;
  }

  const Op& op_;
  Geometry base_;
  int kept_, sums_;
  std::vector<Candidate> out_;
};

}  // namespace

std::vector<Candidate> candidates(const Op& op) { return Shapes(op).list(); }

}  // namespace kiln::mix_order_reduction
