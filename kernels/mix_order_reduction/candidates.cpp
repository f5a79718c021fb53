// The ways to lay a row out over threads, best first, and what each needs of the register file.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/candidates.hpp"

#include <algorithm>

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

int rows_per_step(const Geometry& g, int ctas) {
  const std::int64_t row_bytes = 2 * g.n * g.element_bytes;
  int rows = 1;
  while (rows < 4 && rows * row_bytes * ctas < kStepBytesPerSm * 9 / 10) rows *= 2;
  return rows;
}

}  // namespace

int registers_needed(const RmsNormOp& op, const Candidate& c) {
  const int owned = octets(c.geometry);
  int needed = kWorkingRegisters;
  if (op.has_weight)
    needed += kVector * owned + (c.weight_in_registers ? words(op.w) * owned : words(op.w));
  if (c.keep_inputs) {
    needed += c.geometry.rows_per_step * owned * 2 * words(op.x);
  } else {
    // Both passes unpack anew, and their addresses stay live: 120 by the rest of this sum spilled.
    needed += 2 * words(op.x) + 12;
  }
  if (op.residual) needed += words(op.x);
  if (op.n % kVector != 0) needed += 8;
  return needed;
}

// The per-thread limit that __launch_bounds__(threads, ctas) makes the compiler keep: allocation is
// in units of 8.
int registers_allowed(const DeviceLimits& limits, int threads, int ctas) {
  const int allowed = limits.registers_per_sm / (threads * ctas) / 8 * 8;
  return std::min(allowed, limits.registers_per_thread);
}

// Thread shapes for a width, preferred first. Resident CTAs are 4, 2 or 1 an SM, so that they
// divide the row blocks. A CTA a row from 256 lanes up: one lane a thread up to 256 threads, then
// two; two CTAs an SM while a CTA is no larger than 256 threads, since one computes while the other
// waits.
std::vector<Candidate> candidates(const RmsNormOp& op) {
  Geometry base{.n = op.n, .element_bytes = size_bytes(op.x), .inputs = op.residual ? 3 : 2};
  std::vector<Candidate> out;
  const auto add =
      [&](int threads, int lanes_a_thread, int rows, int ctas, bool keep, bool weight) {
        Geometry g = base;
        g.threads = threads;
        g.lanes_per_thread = lanes_a_thread;
        g.rows_per_step = rows;
        out.push_back({g, ctas, keep, weight});
      };
  const auto add_rows = [&](int threads, int lanes_a_thread, int ctas) {
    for (int rows = rows_per_step(base, ctas); rows >= 1; rows /= 2)
      add(threads, lanes_a_thread, rows, ctas, true, true);
  };
  const auto used = ceil_div(op.n, kVector);
  if (op.n > kMaxCtaColumns) {  // 1,024 lanes over the CTAs of a cluster, one a thread
    base.cluster_ctas = 2;
    const int threads = kMaxLanes / base.cluster_ctas;
    add(threads, 1, 1, 1, true, true);
    add(threads, 1, 1, 1, false, true);
    add(threads, 1, 1, 1, false, false);
    return out;
  }
  if (!cta_row(op.n)) {
    for (const int ctas : {4, 2, 1}) {
      add(256, 1, 1, ctas, true, true);
      if (ctas <= 2) add(256, 1, 1, ctas, false, true);
    }
    add(256, 1, 1, 1, false, false);
    return out;
  }
  const int one_lane = round_up_32(used), two_lanes = round_up_32(ceil_div(used, 2));
  if (panels(op.n) == 1) {
    if (used <= 256) {
      for (const int ctas : {4, 2}) add_rows(one_lane, 1, ctas);
    } else if (used <= 512) {
      add_rows(two_lanes, 2, 2);
      add_rows(one_lane, 1, 2);
    }
    add_rows(two_lanes, 2, 1);
  }
  const int threads = panels(op.n) == 1 ? two_lanes : 512;
  add(threads, 2, 1, 1, true, true);
  add(threads, 2, 1, 1, false, true);
  add(threads, 2, 1, 1, false, false);
  return out;
}

}  // namespace kiln::mix_order_reduction
