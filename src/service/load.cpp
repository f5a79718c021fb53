// Plans made runnable: kernels obtained and loaded for a fused plan, embedded images for a composed
// one.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/cuda/module.hpp"
#include "src/service/engine.hpp"

namespace kiln {
namespace {

// The CTAs of a stage that an SM holds at once, and a check that one fits at all.
int resident_ctas(const DeviceState& device, const StagePlan& stage, CUfunc_st* function) {
  const ContextGuard guard(device.driver(), device.context());
  const int ctas = active_ctas_per_sm(device.driver(), function, stage.threads, stage.smem_bytes);
  if (ctas >= 1) return ctas;
  throw Error(
      ErrorCode::load_failed,
      fmt::format("no CTA of {} ({} threads, {} bytes of shared memory) fits on an SM of {}",
                  stage.entry,
                  stage.threads,
                  stage.smem_bytes,
                  device.device().name));
}

// The clusters of a stage that the device holds at once; 0 for a stage without clusters.
int resident_clusters(const DeviceState& device, const StagePlan& stage, CUfunc_st* function) {
  if (stage.cluster_ctas == 1) return 0;
  const ContextGuard guard(device.driver(), device.context());
  const int clusters = active_clusters(
      device.driver(), function, stage.threads, stage.cluster_ctas, stage.smem_bytes);
  if (clusters >= 1) return clusters;
  throw Error(ErrorCode::load_failed,
              fmt::format("no cluster of {} CTAs of {} fits on {}",
                          stage.cluster_ctas,
                          stage.entry,
                          device.device().name));
}

void add_function(PreparedState& state, const StagePlan& stage, LoadedFunction loaded) {
  const std::size_t index = state.functions.size();
  if (index >= state.ctas_per_sm.size()) {
    throw Error(ErrorCode::internal,
                fmt::format("the plan of '{}' has more than {} stages",
                            state.plan.signature.text(),
                            state.ctas_per_sm.size()));
  }
  state.ctas_per_sm[index] = resident_ctas(*state.hardware, stage, loaded.function);
  state.clusters[index] = resident_clusters(*state.hardware, stage, loaded.function);
  state.functions.push_back(std::move(loaded));
}

// Nothing is left that could run: why, and what to do about it.
[[noreturn]] void throw_unavailable(const Plan& plan, const Error& error) {
  const std::string why = fmt::format("'{}' cannot run on {}: no fused kernel ({})",
                                      plan.signature.text(),
                                      plan.arch.text(),
                                      plan.fallback ? plan.fallback->detail : std::string());
  switch (error.code) {
    case ErrorCode::jit_disabled:
    case ErrorCode::nvrtc_missing:
      throw Error(
          ErrorCode::unavailable,
          fmt::format("{}, and the composed kernels of a described op are compiled too: {}. "
                      "Compile it ahead where NVRTC is: `kiln warm --ops FILE --signature "
                      "'{}' --arch {}`, with the same KILN_CACHE_DIR",
                      why,
                      error.detail,
                      plan.signature.text(),
                      plan.arch.text()));
    case ErrorCode::load_failed:
    case ErrorCode::compile_failed:
      throw Error(ErrorCode::unavailable,
                  fmt::format("{}, and no composed one: {}", why, error.detail));
    default:
      throw error;
  }
}

std::shared_ptr<PreparedState> new_state(const Family& family, Plan plan, const Target& target) {
  auto state = std::make_shared<PreparedState>();
  state->family = &family;
  state->plan = std::move(plan);
  state->hardware = target.hardware;
  state->device = target.hardware ? target.hardware->device()
                                  : Device{.ordinal = -1, .arch = target.limits.arch, .name = {}};
  return state;
}

}  // namespace

KernelRequest Engine::request_of(const Family& family,
                                 const Plan& plan,
                                 std::size_t stage,
                                 const Target& target) {
  KernelRequest request{.op = plan.signature.op,
                        .signature = plan.signature.text(),
                        .closure = headers_.close(family.emit(plan, stage)),
                        .options = CompileOptions::standard(),
                        .arch = plan.arch};
  request.key =
      make_key(family.name, family.emitter_version, request.closure, request.options, request.arch);
  if (options_.policy.disable_jit) {
    request.no_toolchain_reason = "KILN_DISABLE_JIT forbids compiling";
    return request;
  }
  std::optional<int> driver_major;
  if (target.hardware) {
    driver_major = target.hardware->driver_cuda_major();
    request.driver = std::to_string(target.hardware->driver_version());
    request.recalls = !options_.policy.strict;
  }
  const ToolchainSearch& search = toolchains_.search(driver_major);
  request.toolchain = search.found;
  if (!search.found) {
    request.no_toolchain_reason = missing_toolchain(search).detail;
  }
  return request;
}

void Engine::add_obtained(PreparedState& state,
                          const Family& family,
                          std::size_t index,
                          const Target& target) {
  StagePlan& stage = state.plan.stages[index];
  KernelRequest request = request_of(family, state.plan, index, target);
  const Digest digest = request.digest();
  const auto [kernel, built] = kernels_.get(digest, [&] {
    Obtained obtained = cubins_.obtain(request);
    return std::make_shared<Kernel>(cubins_, std::move(request), std::move(obtained));
  });
  if (target.hardware) add_function(state, stage, kernel->load(*target.hardware, stage.smem_bytes));
  const KernelFacts facts = kernel->facts();
  stage.registers = facts.registers;
  stage.spill_bytes = facts.spill_bytes;
  stage.static_smem_bytes = facts.static_smem_bytes;
  stage.digest = digest.kernel_hex();
  stage.origin = built ? facts.origin : Origin::memory;
  stage.compile_ms = built ? facts.compile_ms : 0;
}

PreparedPointer Engine::fused(const Family& family, Plan plan, const Target& target) {
  const auto state = new_state(family, std::move(plan), target);
  for (std::size_t i = 0; i < state->plan.stages.size(); ++i)
    add_obtained(*state, family, i, target);
  if (!state->plan.otherwise.empty() && target.hardware) add_otherwise(*state, target);
  return state;
}

// A kernel that is there must not be lost for want of those that few launches need.
void Engine::add_otherwise(PreparedState& state, const Target& target) {
  const ComposedImage* image = backends_.find_composed(state.family->name, target.limits.arch);
  if (image == nullptr) {
    state.otherwise_refusal = "none of the kernels built into kiln runs there";
  } else {
    try {
      for (const StagePlan& stage : state.plan.otherwise)
        add_embedded(state, stage, *image, target);
    } catch (const Error& error) {
      if (error.code != ErrorCode::load_failed && error.code != ErrorCode::out_of_memory) throw;
      state.otherwise_refusal = error.detail;
    }
  }
  if (state.otherwise_refusal.empty()) return;
  state.functions.resize(state.plan.stages.size());
  log_.write(LogLevel::warn,
             fmt::format("'{}' on {}: {}; it runs, but not where {}",
                         state.plan.signature.text(),
                         target.limits.arch.text(),
                         state.otherwise_refusal,
                         state.plan.otherwise_when));
}

void Engine::add_embedded(PreparedState& state,
                          const StagePlan& stage,
                          const ComposedImage& image,
                          const Target& target) {
  const auto load = [&] {
    return std::make_shared<LoadedImage>(
        target.hardware->shared_driver(),
        image.bytes,
        fmt::format("the composed kernels of {}", state.family->name));
  };
  const std::shared_ptr<LoadedImage> loaded = images_.get(image.bytes.data(), load).value;
  add_function(
      state, stage, {loaded, loaded->function(stage.entry, *target.hardware, stage.smem_bytes)});
}

PreparedPointer Engine::composed(const Family& family, Plan plan, const Target& target) {
  cubins_.count_fallback(plan.fallback ? plan.fallback->detail : std::string());
  const ComposedImage* image = backends_.find_composed(family.name, target.limits.arch);
  if (image == nullptr) {
    throw Error(
        ErrorCode::unavailable,
        fmt::format(
            "'{}' cannot run on {}: no fused kernel ({}), and none of the composed kernels built "
            "into kiln runs there",
            plan.signature.text(),
            target.limits.arch.text(),
            plan.fallback ? plan.fallback->detail : std::string()));
  }
  const auto state = new_state(family, std::move(plan), target);
  try {
    for (std::size_t i = 0; i < state->plan.stages.size(); ++i) {
      const StagePlan& stage = state->plan.stages[i];
      if (stage.origin != Origin::embedded) {
        add_obtained(*state, family, i, target);
      } else if (target.hardware) {
        add_embedded(*state, stage, *image, target);
      }
    }
  } catch (const Error& error) {
    throw_unavailable(state->plan, error);
  }
  return state;
}

}  // namespace kiln
