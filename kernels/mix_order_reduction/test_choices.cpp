// Candidates by name: each fits, is a kernel of its own, and sums in the planner's order.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/choices.hpp"
#include "kernels/mix_order_reduction/fit.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "src/cuda/nvrtc.hpp"
#include "src/cuda/toolchain.hpp"
#include "tests/random_signatures.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
namespace mix = kiln::mix_order_reduction;
using kiln::testing::random_signature;
using kiln::testing::soaking;

const Family& family() { return find_family("rms_norm_backward"); }

const DeviceLimits& random_limits(std::mt19937& random) {
  const auto& all = known_limits();
  return all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)];
}

Plan plan_of(const Signature& signature, const DeviceLimits& limits, const std::string& name) {
  Policy policy;
  policy.candidate = name;
  return std::get<Plan>(mix::plan(signature, limits, policy));
}

mix::Geometry geometry_of(const StagePlan& stage) {
  return {.n = stage.constant("n"),
          .inputs = static_cast<int>(stage.constant("inputs")),
          .row_sums = static_cast<int>(stage.constant("row_sums")),
          .threads = stage.threads,
          .lanes_per_thread = static_cast<int>(stage.constant("lanes_per_thread")),
          .rows_per_step = static_cast<int>(stage.constant("rows_per_step")),
          .stages = static_cast<int>(stage.constant("stages")),
          .cluster_ctas = stage.cluster_ctas};
}

// How often the threads that share a row own each octet of it: Columns of rows.cuh.
std::vector<int> owners(const mix::Geometry& g) {
  std::vector<int> times(static_cast<std::size_t>(mix::ceil_div(g.n, mix::kVector)), 0);
  const int group = mix::group_threads(g), lanes = mix::lanes_per_thread(g);
  for (int cta = 0; cta < g.cluster_ctas; ++cta) {
    for (int thread = 0; thread < group; ++thread) {
      for (int v = 0; v < mix::octets(g); ++v) {
        const int lane = (cta * lanes + v % lanes) * group + thread;
        const std::int64_t octet = std::int64_t{mix::kMaxLanes} * (v / lanes) + lane;
        if (octet < std::ssize(times)) ++times[static_cast<std::size_t>(octet)];
      }
    }
  }
  return times;
}

// The part of the source that says what is computed; the rest says by which threads.
std::string formula_of(const Plan& plan) {
  const std::string text = mix::emit(plan, 0).text;
  const std::size_t begin = text.find("\nstruct Formula"), end = text.find("\nstruct Config");
  REQUIRE(begin < end);
  REQUIRE(end != std::string::npos);
  return text.substr(begin, end - begin);
}

TEST_CASE("a candidate's name says its rows, threads, lanes, residency, registers and cluster") {
  const Signature signature = Signature::parse("rms_norm_backward:n=4096");
  const DeviceLimits& limits = limits_of(Arch::parse("sm_90a"));
  const std::vector<std::string> names = mix::candidate_names(signature, limits);
  for (const char* name : {"r1_t256_l2_c2_k1_w1_x1",
                           "r2_t256_l2_c1_k1_w1_x1",
                           "r4_t256_l2_c1_k1_w1_x1",
                           "r1_t512_l1_c2_k1_w1_x1",
                           "r1_t256_l2_c1_k0_w0_x1"}) {
    CAPTURE(name, fmt::format("{}", fmt::join(names, " ")));
    CHECK(std::count(names.begin(), names.end(), name) == 1);
  }
  const StagePlan stage = plan_of(signature, limits, "r4_t256_l2_c1_k1_w1_x1").stages.at(0);
  CHECK(stage.threads == 256);
  CHECK(stage.ctas_per_sm == 1);
  CHECK(stage.constant("rows_per_step") == 4);
  CHECK(stage.constant("lanes_per_thread") == 2);
  CHECK(stage.tile == "4 rows x 4096 columns");
  CHECK_THROWS_AS(plan_of(signature, limits, "r3_t256_l2_c2_k1_w1_x1"), Error);
}

TEST_CASE("candidates are the planner's and each with 1, 2 and 4 rows a step, where they fit") {
  std::mt19937 random(17);
  for (int i = 0; i < (soaking() ? 5'000 : 300); ++i) {
    const Signature signature = random_signature(family(), 2 * mix::kMaxFusedColumns, random);
    const DeviceLimits& limits = random_limits(random);
    CAPTURE(signature.text(), limits.arch.text());
    const std::vector<std::string> names = mix::candidate_names(signature, limits);
    const PlanResult chosen = mix::plan(signature, limits, {});
    if (std::holds_alternative<Rejection>(chosen)) {
      REQUIRE(names.empty());
      continue;
    }
    const StagePlan& planners = std::get<Plan>(chosen).stages.at(0);
    const auto like_planners = [&](const std::string& name) {
      const StagePlan stage = plan_of(signature, limits, name).stages.at(0);
      return stage.threads == planners.threads && stage.ctas_per_sm == planners.ctas_per_sm &&
             stage.cluster_ctas == planners.cluster_ctas &&
             stage.constant("rows_per_step") == planners.constant("rows_per_step") &&
             stage.constant("lanes_per_thread") == planners.constant("lanes_per_thread");
    };
    REQUIRE(std::any_of(names.begin(), names.end(), like_planners));
    const mix::Op op = mix::Op::from(signature);
    for (const mix::Candidate& c : mix::choices(op)) {
      const std::string name = mix::candidate_name(c);
      const bool listed = std::find(names.begin(), names.end(), name) != names.end();
      CAPTURE(name);
      REQUIRE(listed == mix::fits(op, limits, c));
      REQUIRE((c.geometry.rows_per_step == 1 || c.geometry.rows_per_step == 2 ||
               c.geometry.rows_per_step == 4));
    }
  }
}

TEST_CASE("no candidate changes what is computed, nor the order of a sum") {
  std::mt19937 random(19);
  for (int i = 0; i < (soaking() ? 2'000 : 150); ++i) {
    const Signature signature = random_signature(family(), mix::kMaxFusedColumns, random);
    const DeviceLimits& limits = random_limits(random);
    const PlanResult chosen = mix::plan(signature, limits, {});
    if (std::holds_alternative<Rejection>(chosen)) continue;
    const Plan& planners = std::get<Plan>(chosen);
    const std::string formula = formula_of(planners);
    std::set<std::string> sources;
    for (const std::string& name : mix::candidate_names(signature, limits)) {
      CAPTURE(signature.text(), limits.arch.text(), name);
      const Plan plan = plan_of(signature, limits, name);
      const StagePlan& stage = plan.stages.at(0);
      const mix::Geometry g = geometry_of(stage);
      // Lanes and blocks follow from n and the rows; a thread joins whole lanes, each of one owner,
      // and the threads of a group are the lanes' neighbours.
      REQUIRE(formula_of(plan) == formula);
      REQUIRE(plan.workspace_bytes == planners.workspace_bytes);
      const std::vector<int> times = owners(g);
      REQUIRE(std::all_of(times.begin(), times.end(), [](int owned) { return owned == 1; }));
      REQUIRE((mix::cta_row(g.n) ? g.threads % 32 == 0
                                 : mix::group_threads(g) * mix::chains(g.n) == g.threads));
      // A kernel of its own, within the device.
      REQUIRE(sources.insert(mix::emit(plan, 0).text).second);
      REQUIRE(stage.smem_bytes <= limits.smem_per_cta_bytes);
      REQUIRE((stage.smem_bytes + limits.smem_reserved_per_cta_bytes) * stage.ctas_per_sm <=
              limits.smem_per_sm_bytes);
      REQUIRE(stage.threads * stage.ctas_per_sm <= limits.threads_per_sm);
      REQUIRE(stage.register_budget * stage.threads * stage.ctas_per_sm <= limits.registers_per_sm);
    }
  }
}

TEST_CASE("a candidate's stages follow the policy") {
  const Signature signature = Signature::parse("rms_norm_backward:n=4096");
  Policy policy;
  policy.candidate = "r2_t256_l2_c1_k0_w1_x1";
  const auto stages = [&] {
    const DeviceLimits& limits = limits_of(Arch::parse("sm_90a"));
    return std::get<Plan>(mix::plan(signature, limits, policy)).stages.at(0).pipeline.chosen;
  };
  CHECK(stages() == 1);
  policy.allow_multi_stages = true;
  CHECK(stages() == 3);
}

TEST_CASE("candidates at random compile without spills") {
  const ToolchainSearch search = find_toolchain(Policy::from_env(), {}, std::nullopt);
  if (!search.found) throw missing_toolchain(search);
  const Nvrtc nvrtc = Nvrtc::load(*search.found);
  std::mt19937 random(23);
  int compiled = 0;
  for (int i = 0; compiled < (soaking() ? 500 : 8); ++i) {
    const Signature signature = random_signature(family(), mix::kMaxFusedColumns, random);
    const DeviceLimits& limits =
        i % 2 == 0 ? limits_of(Arch::parse("sm_90a")) : random_limits(random);
    const std::vector<std::string> names = mix::candidate_names(signature, limits);
    if (names.empty()) continue;
    const std::string& name =
        names[std::uniform_int_distribution<std::size_t>(0, names.size() - 1)(random)];
    const Plan plan = plan_of(signature, limits, name);
    const Closure closure = close_includes(mix::emit(plan, 0), embedded_files());
    const CompileOptions options = CompileOptions::standard();
    const CompileResult out =
        compile(nvrtc, {.closure = closure, .options = options, .arch = limits.arch, .seed = "0"});
    INFO(signature.text() << " for " << limits.arch.text() << " as " << name << ", "
                          << out.cubin.registers << " registers; " << plan.notes.at(1));
    CHECK(out.cubin.spill_bytes <= 0);  // -1: not known
    ++compiled;
  }
}

}  // namespace
