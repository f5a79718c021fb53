// Conformance of every family's values: names, text forms, plans and their limits, goldens,
// closures.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/conformance/cases.hpp"
#include "tests/testing.hpp"

namespace kiln::conformance {
namespace {

const DeviceLimits& hopper() { return limits_of(Arch::parse("sm_90a")); }

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool identifier(std::string_view name) {
  const auto letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), letter);
}

void check_limits(const StagePlan& stage, const DeviceLimits& limits) {
  INFO("stage " << stage.entry);
  const std::int64_t threads = std::int64_t{stage.ctas_per_sm} * stage.threads;
  CHECK(identifier(stage.entry));
  CHECK(stage.threads > 0);
  CHECK(stage.threads % 32 == 0);
  CHECK(stage.threads <= limits.threads_per_cta);
  CHECK(stage.ctas_per_sm >= 1);
  CHECK(stage.ctas_per_sm <= limits.ctas_per_sm);
  CHECK(threads <= limits.threads_per_sm);
  CHECK(stage.smem_bytes >= 0);
  CHECK(stage.smem_bytes <= limits.smem_per_cta_bytes);
  CHECK(stage.ctas_per_sm * (stage.smem_bytes + limits.smem_reserved_per_cta_bytes) <=
        limits.smem_per_sm_bytes);
  CHECK(stage.register_budget > 0);
  CHECK(stage.register_budget <= limits.registers_per_thread);
  CHECK(threads * stage.register_budget <= limits.registers_per_sm);
  CHECK(stage.cluster_ctas >= 1);
  CHECK(stage.cluster_ctas <= std::max(1, limits.max_cluster_ctas));
  const PipelineChoice& pipeline = stage.pipeline;
  CHECK(pipeline.chosen >= 1);
  CHECK(pipeline.chosen <= std::min({pipeline.asked, pipeline.cap, pipeline.fits}));
  CHECK_FALSE(pipeline.why.empty());
}

TEST_CASE("every family is named as its folder and serves ops of its own") {
  const std::vector<std::filesystem::path> folders = family_folders();
  REQUIRE(families().size() == folders.size());
  std::set<std::string_view> ops;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const Family& family = *families()[i];
    CHECK(family.name == folders[i].filename());
    CHECK(std::filesystem::exists(folders[i] / "README.md"));
    CHECK(family.emitter_version >= 1);
    CHECK_FALSE(family.ops().empty());
    for (const OpSpec* spec : family.ops()) {
      const OpSpec& op = *spec;
      INFO("op " << op.name);
      CHECK(ops.insert(op.name).second);
      CHECK(&find_family(op.name) == &family);
      CHECK(std::is_sorted(op.keys.begin(), op.keys.end(), [](const KeySpec& a, const KeySpec& b) {
        return a.name < b.name;
      }));
    }
  }
}

TEST_CASE("every op has a sample, and a sample is of its own family") {
  std::set<std::string> sampled;
  for (const Case& c : cases()) {
    INFO(c.text());
    CHECK(&find_family(c.signature.op) == c.family);
    sampled.insert(c.signature.op);
  }
  for (const OpSpec* op : op_specs()) {
    INFO("op " << op->name);
    CHECK(sampled.count(std::string(op->name)) == 1);
  }
}

TEST_CASE("every sample round-trips through text and JSON") {
  for (const Case& c : cases()) {
    INFO(c.text());
    CHECK(Signature::parse(c.signature.text()) == c.signature);
    CHECK(Signature::parse_json(c.signature.json()) == c.signature);
  }
}

TEST_CASE("every plan is deterministic and within the limits of its architecture") {
  for (const Case& c : cases()) {
    for (const DeviceLimits& limits : known_limits()) {
      for (const Policy& policy : policies()) {
        INFO(c.text() << " on " << limits.arch.text());
        const PlanResult result = c.family->plan(c.signature, limits, policy);
        CHECK(result == c.family->plan(c.signature, limits, policy));
        if (const Rejection* rejection = std::get_if<Rejection>(&result)) {
          CHECK_FALSE(rejection->detail.empty());
          CHECK_FALSE(forced_by_environment(rejection->reason));
          continue;
        }
        const Plan& plan = std::get<Plan>(result);
        CHECK(plan.family == c.family->name);
        CHECK(plan.signature == c.signature);
        CHECK(plan.arch == limits.arch);
        CHECK(plan.route == Route::fused);
        CHECK_FALSE(plan.fallback);
        CHECK(plan.workspace_bytes >= 0);
        REQUIRE_FALSE(plan.stages.empty());
        for (const StagePlan& stage : plan.stages) check_limits(stage, limits);
      }
    }
  }
}

TEST_CASE("every family has a sample that is fused on sm_90a, and a golden") {
  std::set<std::string_view> fused;
  std::set<std::string_view> golden;
  for (const Case& c : cases()) {
    if (c.fused(hopper())) fused.insert(c.family->name);
    if (!c.sample.golden.empty()) golden.insert(c.family->name);
  }
  for (const Family* family : families()) {
    INFO(family->name);
    CHECK(fused.count(family->name) == 1);
    CHECK(golden.count(family->name) == 1);
  }
}

TEST_CASE("the emitted text of every sample equals its golden") {
  const char* update = std::getenv("KILN_UPDATE_GOLDENS");
  for (const Case& c : cases()) {
    if (c.sample.golden.empty()) continue;
    const std::filesystem::path path = folder_of(*c.family) / "golden" / c.sample.golden;
    INFO(c.text() << "; to renew its golden " << path
                  << ": KILN_UPDATE_GOLDENS=1 ./dev test -R golden");
    const std::optional<Plan> plan = c.fused(hopper());
    REQUIRE(plan);
    const std::string text = emitted_text(*c.family, *plan);
    if (update != nullptr && std::string_view(update) == "1") {
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path, std::ios::binary) << text;
    }
    CHECK(read(path) == text);
  }
}

TEST_CASE("no golden is left without a sample") {
  std::set<std::filesystem::path> known;
  for (const Case& c : cases()) known.insert(folder_of(*c.family) / "golden" / c.sample.golden);
  for (const std::filesystem::path& folder : family_folders()) {
    if (!std::filesystem::exists(folder / "golden")) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "golden")) {
      INFO(entry.path());
      CHECK(known.count(entry.path()) == 1);
    }
  }
}

TEST_CASE("the closure of every plan is complete: each include is embedded and none is left out") {
  for (const Case& c : cases()) {
    for (const DeviceLimits& limits : known_limits()) {
      const std::optional<Plan> plan = c.fused(limits);
      if (!plan) continue;
      for (std::size_t stage = 0; stage < plan->stages.size(); ++stage) {
        INFO(c.text() << " on " << limits.arch.text());
        const Closure closure = closure_of(*c.family, *plan, stage);
        CHECK(closure.source.entry == plan->stages[stage].entry);
        std::set<std::string_view> names;
        for (const EmbeddedFile& header : closure.headers) names.insert(header.name);
        const auto check_includes = [&names](std::string_view text) {
          for (std::size_t at = text.find("#include"); at != std::string_view::npos;
               at = text.find("#include", at + 1)) {
            const std::size_t open = text.find_first_of("<\"", at);
            const std::size_t close = text.find_first_of(">\"", open + 1);
            const std::string_view name = text.substr(open + 1, close - open - 1);
            INFO("include of " << name);
            CHECK(names.count(name) == 1);
          }
        };
        check_includes(closure.source.text);
        for (const EmbeddedFile& header : closure.headers) check_includes(header.text);
      }
    }
  }
}

}  // namespace
}  // namespace kiln::conformance
