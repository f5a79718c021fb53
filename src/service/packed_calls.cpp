// What a family binds, checked against what was prepared.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/packed_calls.hpp"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/service/tensor_maps.hpp"

namespace kiln {
namespace {

void check_call(const KernelCall& call, const PreparedState& prepared) {
  const auto stage = static_cast<std::size_t>(call.stage);
  if (stage >= prepared.plan.stages.size() && !prepared.otherwise_refusal.empty()) {
    throw Error(ErrorCode::load_failed,
                fmt::format("'{}': {}, and the kernels for such arguments cannot be loaded: {}",
                            prepared.plan.signature.text(),
                            prepared.plan.otherwise_when,
                            prepared.otherwise_refusal));
  }
  if (call.stage < 0 || stage >= prepared.functions.size()) {
    throw Error(ErrorCode::internal,
                fmt::format("{} launches stage {} of a plan with {}",
                            prepared.family->name,
                            call.stage,
                            prepared.functions.size()));
  }
  if (!call.cooperative) return;
  const std::int64_t ctas = std::int64_t{call.grid[0]} * call.grid[1] * call.grid[2];
  const std::int64_t resident =
      call.cluster_ctas > 1 ? std::int64_t{prepared.clusters[stage]} * call.cluster_ctas
                            : std::int64_t{prepared.device.sm_count} * prepared.ctas_per_sm[stage];
  if (ctas <= resident) return;
  throw Error(ErrorCode::internal,
              fmt::format("{} launches {} CTAs that wait for one another, {} are resident at once",
                          prepared.plan.kernel(stage).entry,
                          ctas,
                          resident));
}

}  // namespace

void PackedCalls::pack(const PreparedState& prepared,
                       const Arguments& arguments,
                       const LaunchContext& context) {
  list.count = 0;
  prepared.family->bind(prepared.plan, arguments, context, list);
  for (std::size_t i = 0; i < static_cast<std::size_t>(list.count); ++i) {
    KernelCall& call = list.calls[i];
    check_call(call, prepared);
    encode_tensor_maps(*prepared.hardware, call);
    launches[i] = PackedLaunch(prepared.hardware->driver(),
                               prepared.functions[static_cast<std::size_t>(call.stage)].function,
                               {.grid = call.grid,
                                .threads = call.threads,
                                .cluster_ctas = call.cluster_ctas,
                                .cooperative = call.cooperative,
                                .smem_bytes = call.smem_bytes});
  }
}

}  // namespace kiln
