// The device and the signatures of the GPU tests.
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_fixture.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "kernels/family.hpp"
#include "tools/recipe.hpp"
#include "tools/verify/random.hpp"

namespace kiln::testing {
namespace {

Options options(bool multi_stages, RouteChoice route) {
  Options result;
  result.policy = Policy::from_env();
  // A test leaves nothing in the user's own cache; one that is named on purpose saves compiles.
  if (std::getenv("KILN_CACHE_DIR") == nullptr) result.policy.cache_dir.clear();
  result.policy.allow_multi_stages = multi_stages;
  result.policy.max_stages.reset();
  // A failure to get the fused kernel must fail the test, not run the composed one twice.
  result.policy.strict = true;
  result.route = route;
  return result;
}

}  // namespace

Gpu::Gpu()
    : driver(Driver::load()),
      current(driver, 0),
      stream(driver),
      one_stage(options(false, RouteChoice::automatic)),
      many_stages(options(true, RouteChoice::automatic)),
      composed(options(false, RouteChoice::composed)),
      device(one_stage.device(0)) {
  std::printf("%s, %s, %d SMs, seed %" PRIu64 "\n",
              device.name.c_str(),
              device.arch.text().c_str(),
              device.sm_count,
              seed());
}

Gpu& gpu() {
  static Gpu& instance = *new Gpu;  // never destroyed: the driver may be gone before statics are
  return instance;
}

const std::vector<Signature>& signatures() {
  static const std::vector<Signature> all = [] {
    std::vector<Signature> result;
    std::set<Signature> seen;
    const auto add = [&](const Signature& signature) {
      if (seen.insert(signature).second) result.push_back(signature);
    };
    for (const Family* family : families()) {
      for (const Sample& each : family->samples()) add(Signature::parse(each.signature));
    }
    for (const RecipeEntry& entry :
         read_recipe(KILN_SOURCE_DIR "/tools/recipes/models.json").entries) {
      add(entry.signature);
    }
    return result;
  }();
  return all;
}

std::vector<Variant> variants(const Signature& signature) {
  std::vector<Variant> result;
  result.push_back({"1 stage", gpu().one_stage.prepare(signature, gpu().device)});
  Prepared many = gpu().many_stages.prepare(signature, gpu().device);
  const StagePlan& stage = many.plan().stages.front();
  if (stage.entry != result.front().prepared.plan().stages.front().entry) {
    result.push_back({std::to_string(stage.pipeline.chosen) + " stages", many});
  }
  if (result.front().prepared.plan().route == Route::composed)
    result.front().name = "composed by plan";
  result.push_back({"composed", gpu().composed.prepare(signature, gpu().device)});
  return result;
}

std::uint64_t seed() {
  static const std::uint64_t value = verify::fresh_seed();
  return value;
}

}  // namespace kiln::testing
