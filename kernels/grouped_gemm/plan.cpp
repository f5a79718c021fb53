// The planner: which tile classes a signature gets on an architecture.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "kernels/grouped_gemm/op.hpp"
#include "kernels/grouped_gemm/portable_layout.hpp"

namespace kiln::grouped_gemm {
namespace {

std::string_view to_string(Add add) {
  return add == Add::none ? "none" : add == Add::engine ? "engine" : "staged";
}

std::string entry_name(const GroupedGemm& gemm, const Geometry& g) {
  std::string name = fmt::format("{}_n{}_k{}_{}_t{}x{}_s{}",
                                 gemm.name(),
                                 gemm.n,
                                 gemm.k,
                                 kiln::to_string(gemm.out),
                                 g.tile_rows,
                                 g.tile_columns,
                                 g.stages);
  if (g.cluster_ctas != 2) name += fmt::format("_c{}", g.cluster_ctas);
  if (g.band != 8) name += fmt::format("_b{}", g.band);
  if (g.add != Add::none) name += fmt::format("_{}_acc", to_string(g.add));
  return name;
}

StagePlan stage_plan(const GroupedGemm& gemm, const TileClass& tiles) {
  const Geometry& g = tiles.geometry;
  StagePlan stage;
  stage.entry = entry_name(gemm, g);
  stage.tile =
      fmt::format("{} rows x {} columns x {} deep", g.tile_rows, g.tile_columns, g.tile_depth);
  stage.threads = threads(g);
  stage.ctas_per_sm = 1;
  stage.cluster_ctas = g.cluster_ctas;
  stage.pipeline = {.asked = g.stages,
                    .cap = g.stages,
                    .fits = g.stages,
                    .chosen = g.stages,
                    .why = fmt::format("steps of {} bytes beside {} slabs of {} bytes a warp",
                                       stage_bytes(g),
                                       g.slabs,
                                       kSlabBytes)};
  stage.smem_bytes = smem_bytes(g);
  stage.register_budget = kLaunchRegisters;
  stage.constants = {{"from_mean_rows", tiles.from_mean_rows},
                     {"rows", g.rows},
                     {"columns", g.columns},
                     {"depth", g.depth},
                     {"tile_rows", g.tile_rows},
                     {"tile_columns", g.tile_columns},
                     {"tile_depth", g.tile_depth},
                     {"stages", g.stages},
                     {"slabs", g.slabs},
                     {"cluster_ctas", g.cluster_ctas},
                     {"band", g.band}};
  stage.types = {{"Out", std::string(kiln::to_string(gemm.out))},
                 {"add", std::string(to_string(g.add))}};
  return stage;
}

// Both routes add in their last store: neither needs scratch.
std::string accumulate_of(const GroupedGemm& gemm) {
  if (gemm.op != Op::wgrad) return {};
  return gemm.accumulate ? "fused" : "off";
}

std::string numerics_note() {
  return "numerics: bf16 products summed in fp32 by tensor cores, 16 along the reduction at a "
         "time, "
         "in order, never split; one rounding at the store";
}

}  // namespace

std::vector<std::string> candidates(const Signature& signature, const DeviceLimits& limits) {
  if (limits.arch.text() != "sm_90a") return {};
  return candidate_names(GroupedGemm::from(signature));
}

PlanResult plan(const Signature& signature, const DeviceLimits& limits, const Policy& policy) {
  const GroupedGemm gemm = GroupedGemm::from(signature);
  if (limits.arch.text() != "sm_90a") {
    return Rejection{FallbackReason::unsupported_arch,
                     fmt::format("the fused kernel uses Hopper's wgmma, which {} does not have",
                                 limits.arch.text())};
  }
  std::vector<TileClass> classes = policy.candidate.empty()
                                       ? tile_classes(gemm)
                                       : std::vector{tile_class_named(gemm, policy.candidate)};
  if (gemm.mean_rows > 0) {
    const auto first = std::find_if(classes.begin(), classes.end(), [&](const TileClass& c) {
      return gemm.mean_rows >= c.from_mean_rows;
    });
    classes = {*first};
    classes.front().from_mean_rows = 0;
  }
  Plan out;
  out.family = "grouped_gemm";
  out.signature = signature;
  out.arch = limits.arch;
  out.route = Route::fused;
  out.accumulate = accumulate_of(gemm);
  for (const TileClass& tiles : classes) {
    out.stages.push_back(stage_plan(gemm, tiles));
    out.notes.push_back(fmt::format("{}: from {} mean rows a group: {}",
                                    out.stages.back().tile,
                                    tiles.from_mean_rows,
                                    tiles.why));
  }
  out.notes.push_back(numerics_note());
  return out;
}

Plan compose(const Signature& signature, const DeviceLimits& limits, const Fallback& fallback) {
  const GroupedGemm gemm = GroupedGemm::from(signature);
  Plan out;
  out.family = "grouped_gemm";
  out.signature = signature;
  out.arch = limits.arch;
  out.route = Route::composed;
  out.fallback = fallback;
  out.accumulate = accumulate_of(gemm);
  StagePlan stage;
  stage.entry = fmt::format("{}_{}", gemm.name(), kiln::to_string(gemm.out));
  stage.tile =
      fmt::format("{} rows x {} columns x {} deep", kPortableTile, kPortableTile, kPortableDepth);
  stage.threads = kPortableThreads;
  stage.smem_bytes = kPortableSmemBytes;
  stage.pipeline = {.asked = kPortableStages,
                    .cap = kPortableStages,
                    .fits = kPortableStages,
                    .chosen = kPortableStages,
                    .why = "fixed when the project was built"};
  out.stages.push_back(std::move(stage));
  out.notes = {"portable: mma.sync and cp.async", numerics_note()};
  return out;
}

}  // namespace kiln::grouped_gemm
