// Plans print everything a person or a tool asks about; small values keep their names.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/arguments.hpp>
#include <kiln/dtype.hpp>
#include <kiln/error.hpp>
#include <kiln/plan.hpp>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/testing.hpp"

using namespace kiln;
using Json = nlohmann::json;

namespace {

Plan fused_plan() {
  Plan plan;
  plan.family = "norm";
  plan.signature = {"norm_backward", {{"n", "4096"}}};
  plan.arch = {9, 0, 'a'};
  plan.workspace_bytes = 1 << 20;
  StagePlan stage;
  stage.entry = "norm_backward_bf16_t2_s2";
  stage.tile = "2 rows x 4096 columns";
  stage.threads = 512;
  stage.ctas_per_sm = 2;
  stage.pipeline = {3, 3, 2, 2, "3 asked, shared memory fits 2"};
  stage.smem_bytes = 65536;
  stage.register_budget = 64;
  stage.constants = {{"kColumns", 4096}, {"kStages", 2}};
  stage.types = {{"Input", "bf16"}};
  plan.stages = {stage};
  plan.notes = {"one note"};
  return plan;
}

TEST_CASE("kernels for other arguments are numbered after the stages, and in the document") {
  Plan plan = fused_plan();
  CHECK_FALSE(Json::parse(plan.json()).contains("otherwise"));
  plan.otherwise.push_back({.entry = "rows", .origin = Origin::embedded});
  plan.otherwise_when = "rows start anywhere";
  CHECK(plan.kernel(0) == plan.stages[0]);
  CHECK(plan.kernel(plan.stages.size()).entry == "rows");
  CHECK_THROWS_AS(plan.kernel(plan.stages.size() + 1), Error);
  const Json otherwise = Json::parse(plan.json())["otherwise"];
  CHECK(otherwise["when"] == "rows start anywhere");
  CHECK(otherwise["stages"][0]["entry"] == "rows");
  CHECK(otherwise["stages"][0]["origin"] == "embedded");
}

}  // namespace

TEST_CASE("a plan prints every decision as JSON") {
  const Json json = Json::parse(fused_plan().json());
  CHECK(json["op"] == "norm_backward");
  CHECK(json["signature"] == "norm_backward:n=4096");
  CHECK(json["family"] == "norm");
  CHECK(json["arch"] == "sm_90a");
  CHECK(json["route"] == "fused");
  CHECK_FALSE(json.contains("reason"));
  CHECK(json["workspace_bytes"] == 1 << 20);
  CHECK(json["notes"] == Json{"one note"});
  const Json& stage = json["stages"].at(0);
  CHECK(stage["entry"] == "norm_backward_bf16_t2_s2");
  CHECK(stage["tile"] == "2 rows x 4096 columns");
  CHECK(stage["threads"] == 512);
  CHECK(stage["ctas_per_sm"] == 2);
  CHECK(stage["cluster_ctas"] == 1);
  CHECK(stage["stages"] == Json{{"asked", 3},
                                {"cap", 3},
                                {"fits", 2},
                                {"chosen", 2},
                                {"why", "3 asked, shared memory fits 2"}});
  CHECK(stage["smem_bytes"] == 65536);
  CHECK(stage["register_budget"] == 64);
  CHECK(stage["constants"]["kStages"] == 2);
  CHECK(stage["types"]["Input"] == "bf16");
  CHECK(stage["origin"] == "none");
}

TEST_CASE("what only a compile tells is null before it and a number after") {
  Plan plan = fused_plan();
  Json before = Json::parse(plan.json())["stages"].at(0);
  for (const char* name :
       {"registers", "spill_bytes", "static_smem_bytes", "digest", "compile_ms"}) {
    INFO(name);
    CHECK(before[name].is_null());
  }
  plan.stages[0].registers = 63;
  plan.stages[0].spill_bytes = 0;
  plan.stages[0].static_smem_bytes = 16;
  plan.stages[0].digest = "ab";
  plan.stages[0].origin = Origin::compiled;
  plan.stages[0].compile_ms = 41.5;
  Json after = Json::parse(plan.json())["stages"].at(0);
  CHECK(after["registers"] == 63);
  CHECK(after["spill_bytes"] == 0);
  CHECK(after["static_smem_bytes"] == 16);
  CHECK(after["digest"] == "ab");
  CHECK(after["origin"] == "compiled");
  CHECK(after["compile_ms"] == 41.5);
}

TEST_CASE("a composed plan prints its reason") {
  Plan plan = fused_plan();
  plan.route = Route::composed;
  plan.fallback = Fallback{FallbackReason::jit_disabled, "KILN_DISABLE_JIT=1"};
  const Json json = Json::parse(plan.json(2));
  CHECK(json["route"] == "composed");
  CHECK(json["reason"] == Json{{"id", "jit_disabled"}, {"detail", "KILN_DISABLE_JIT=1"}});
}

TEST_CASE("text that is not UTF-8 cannot break a plan's JSON") {
  Plan plan = fused_plan();
  plan.notes = {"\xff\"\n"};
  plan.stages[0].origin = Origin::compiled;
  plan.stages[0].compile_ms = std::numeric_limits<double>::quiet_NaN();
  const Json json = Json::parse(plan.json());
  CHECK(json["notes"].at(0) == "\xef\xbf\xbd\"\n");
  CHECK(json["stages"].at(0)["compile_ms"].is_null());
}

TEST_CASE("constants are read by name") {
  const StagePlan stage = fused_plan().stages[0];
  CHECK(stage.constant("kColumns") == 4096);
  CHECK_THROWS_AS(stage.constant("kRows"), Error);
}

TEST_CASE("every fallback reason has a stable number, its own id and a sentence") {
  std::set<std::string_view> ids;
  std::set<std::string_view> sentences;
  for (int number = 1; number <= 9; ++number) {
    const auto reason = static_cast<FallbackReason>(number);
    ids.insert(to_string(reason));
    sentences.insert(sentence(reason));
    CHECK(sentence(reason).ends_with('.'));
    CHECK(forced_by_environment(reason) == (number >= 5));
  }
  CHECK(ids.size() == 9);
  CHECK(sentences.size() == 9);
  CHECK_FALSE(ids.contains("unknown"));
  CHECK(to_string(FallbackReason::jit_disabled) == "jit_disabled");
}

TEST_CASE("every error code has its own name") {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    names.insert(to_string(static_cast<ErrorCode>(code)));
  }
  CHECK(names.size() == static_cast<std::size_t>(ErrorCode::internal) + 1);
  const Error error{ErrorCode::io_error, "no space"};
  CHECK(std::string(error.what()) == "io_error: no space");
}

TEST_CASE("element types round-trip and have sizes") {
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::i32}) {
    CHECK(parse_dtype(to_string(type)) == type);
  }
  CHECK_FALSE(parse_dtype("f64").has_value());
  CHECK(size_bytes(DType::f32) == 4);
  CHECK(size_bytes(DType::bf16) == 2);
}

TEST_CASE("arguments are found by name, refuse duplicates and have a capacity") {
  int data = 0;
  Arguments arguments;
  arguments.add(vector("w", &data, DType::f32, 8));
  arguments.add(matrix("x", &data, DType::bf16, 4, 8));
  arguments.add(matrix("dx", &data, DType::bf16, 4, 8, 16));
  arguments.add(vector("optional", nullptr, DType::f32, 0));
  CHECK(arguments.find("x")->strides[0] == 8);
  CHECK(arguments.find("dx")->strides[0] == 16);
  CHECK(arguments.find("optional") == nullptr);
  CHECK(arguments.find("absent") == nullptr);
  CHECK_THROWS_AS(arguments.add(vector("w", &data, DType::f32, 8)), Error);
  CHECK_THROWS_AS(arguments.add(vector("", &data, DType::f32, 8)), Error);
  static constexpr std::string_view kNames = "abcdefghijklmnopqrstuvwxyz";
  for (std::size_t i = 0; arguments.count < Arguments::kCapacity; ++i) {
    if (kNames.substr(i, 1) != "w" && kNames.substr(i, 1) != "x") {
      arguments.add(vector(kNames.substr(i, 1), &data, DType::f32, 1));
    }
  }
  CHECK_THROWS_AS(arguments.add(vector("one_more", &data, DType::f32, 1)), Error);
  CHECK(arguments.count == Arguments::kCapacity);
}
