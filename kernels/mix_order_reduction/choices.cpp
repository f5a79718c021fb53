// What `kiln tune` measures: candidates by name, and which of them Policy::candidate forces.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/choices.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/fit.hpp"

namespace kiln::mix_order_reduction {
namespace {

// What a step's row sums need: a warp exchanges at most as many values as it has lanes, but one a
// thread, each of which has a tree of its own.
bool sums_fit(const Geometry& g) {
  constexpr int kWarpLanes = 32;
  const int lanes = lanes_per_thread(g);
  return lanes == 1 || g.rows_per_step * g.row_sums * lanes <= kWarpLanes;
}

// Choices that change nothing have one value, so that one kernel has one name.
Candidate settled(const Op& op, Candidate c) {
  if (op.shape.row_vectors.empty()) c.row_vectors_in_registers = true;
  if (op.shape.kept_matrices == 0) c.keep_inputs = true;
  return c;
}

}  // namespace

std::vector<Candidate> choices(const Op& op) {
  std::vector<Candidate> out;
  std::vector<std::string> names;
  const auto add = [&](Candidate c) {
    c = settled(op, c);
    std::string name = candidate_name(c);
    if (!sums_fit(c.geometry) || std::find(names.begin(), names.end(), name) != names.end()) return;
    names.push_back(std::move(name));
    out.push_back(c);
  };
  const std::vector<Candidate> planners = candidates(op);
  for (const Candidate& c : planners) add(c);
  for (Candidate c : planners) {
    for (const int rows : {1, 2, 4}) {
      c.geometry.rows_per_step = rows;
      add(c);
    }
    if (c.geometry.cluster_ctas == 1 || c.ctas_per_sm > 1) continue;
    c.geometry.rows_per_step = 1;
    c.ctas_per_sm = 2;  // two clusters a group of SMs: one computes while the other waits
    add(c);
  }
  return out;
}

std::string candidate_name(const Candidate& c) {
  return fmt::format("r{}_t{}_l{}_c{}_k{:d}_w{:d}_x{}",
                     c.geometry.rows_per_step,
                     c.geometry.threads,
                     lanes_per_thread(c.geometry),
                     c.ctas_per_sm,
                     c.keep_inputs,
                     c.row_vectors_in_registers,
                     c.geometry.cluster_ctas);
}

Candidate choice_named(const Op& op, std::string_view name) {
  for (const Candidate& c : choices(op)) {
    if (candidate_name(c) == name) return c;
  }
  throw Error(ErrorCode::internal, fmt::format("no candidate {} of {}", name, op.name));
}

std::vector<std::string> candidate_names(const Signature& signature, const DeviceLimits& limits) {
  // Where the planner finds nothing that fits, or may not, there is nothing to choose among.
  if (std::holds_alternative<Rejection>(plan(signature, limits, {}))) return {};
  const Op op = Op::from(signature);
  std::vector<std::string> names;
  for (const Candidate& c : choices(op)) {
    if (fits(op, limits, c)) names.push_back(candidate_name(c));
  }
  return names;
}

}  // namespace kiln::mix_order_reduction
