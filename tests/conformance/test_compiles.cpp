// Conformance of every family's kernels with the compiler: they compile for each architecture,
// without spills, to the same bytes, and a plan that lies about shared memory does not compile.
// Needs NVRTC, no GPU.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <kiln/error.hpp>

#include "src/cuda/nvrtc.hpp"
#include "src/cuda/toolchain.hpp"
#include "tests/conformance/cases.hpp"
#include "tests/testing.hpp"

namespace kiln::conformance {
namespace {

// A kernel takes 40 to 300 ms; a family with more samples has some of them compiled for each
// architecture.
constexpr int kMostCompiledAFamily = 12;

const Nvrtc& nvrtc() {
  static const Nvrtc loaded = [] {
    const ToolchainSearch search = find_toolchain(Policy::from_env(), {}, std::nullopt);
    if (!search.found) throw missing_toolchain(search);
    return Nvrtc::load(*search.found);
  }();
  return loaded;
}

CompileResult compile_stage(const Case& c, const Plan& plan, std::size_t stage) {
  const Closure closure = closure_of(*c.family, plan, stage);
  const CompileOptions options = CompileOptions::standard();
  const std::string seed = digest(key_of(*c.family, closure, plan.arch)).kernel_hex().substr(0, 16);
  return compile(nvrtc(),
                 {.closure = closure, .options = options, .arch = plan.arch, .seed = seed});
}

// Calls `check` for stages of fused plans, at most `most` samples a family; which ones turns with
// the architecture.
template <class Check>
void for_each_compiled(const Arch& arch, int most, const Check& check) {
  const DeviceLimits& limits = limits_of(arch);
  std::map<const Family*, std::vector<Case>> by_family;
  for (Case& c : cases()) {
    if (c.fused(limits)) by_family[c.family].push_back(c);
  }
  for (auto& [family, list] : by_family) {
    const auto turn = static_cast<std::size_t>(arch.major * 10 + arch.minor) % list.size();
    if (list.size() > static_cast<std::size_t>(most)) {
      std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(turn), list.end());
      list.resize(static_cast<std::size_t>(most));
    }
    for (const Case& c : list) {
      const Plan plan = *c.fused(limits);
      for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
        INFO(c.text() << ", stage " << stage << " on " << arch.text());
        check(c, plan, stage);
      }
    }
  }
}

void check_compiles(std::string_view arch) {
  for_each_compiled(Arch::parse(arch),
                    kMostCompiledAFamily,
                    [](const Case& c, const Plan& plan, std::size_t index) {
                      const StagePlan& stage = plan.stages[index];
                      const CompileResult result = compile_stage(c, plan, index);
                      const std::string_view image(
                          reinterpret_cast<const char*>(result.cubin.image.data()),
                          result.cubin.image.size());
                      const std::vector<std::string> entries = elf_functions(image);
                      CHECK(std::count(entries.begin(), entries.end(), stage.entry) == 1);
                      CHECK(result.cubin.registers > 0);
                      CHECK(result.cubin.registers <= stage.register_budget);
                      CHECK(result.cubin.spill_bytes == 0);
                      CHECK(result.cubin.stack_bytes == 0);
                      CHECK(stage.smem_bytes + result.cubin.static_smem_bytes <=
                            limits_of(plan.arch).smem_per_cta_bytes);
                    });
}

TEST_CASE("every kernel compiles for sm_80 without spills") { check_compiles("sm_80"); }
TEST_CASE("every kernel compiles for sm_90a without spills") { check_compiles("sm_90a"); }
TEST_CASE("every kernel compiles for sm_100a without spills") { check_compiles("sm_100a"); }
TEST_CASE("every kernel compiles for sm_120a without spills") { check_compiles("sm_120a"); }

TEST_CASE("a second compile gives identical bytes") {
  for_each_compiled(
      Arch::parse("sm_90a"), 3, [](const Case& c, const Plan& plan, std::size_t stage) {
        CHECK(compile_stage(c, plan, stage).cubin == compile_stage(c, plan, stage).cubin);
      });
}

TEST_CASE("a plan with a falsified smem_bytes fails to compile") {
  for_each_compiled(Arch::parse("sm_90a"), 3, [](const Case& c, Plan plan, std::size_t stage) {
    plan.stages[stage].smem_bytes += 16;
    try {
      static_cast<void>(compile_stage(c, plan, stage));
      FAIL("it compiled");
    } catch (const Error& error) {
      CHECK(error.code == ErrorCode::compile_failed);
      CHECK_THAT(error.detail, testing::contains("static assertion failed"));
    }
  });
}

}  // namespace
}  // namespace kiln::conformance
