// A plan as JSON: what `kiln explain --json` prints. What is not known yet is null.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/plan.hpp>

#include <utility>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

Json known_or_null(std::int64_t value) { return value < 0 ? Json(nullptr) : Json(value); }

Json pipeline_json(const PipelineChoice& pipeline) {
  return Json{{"asked", pipeline.asked},
              {"cap", pipeline.cap},
              {"fits", pipeline.fits},
              {"chosen", pipeline.chosen},
              {"why", pipeline.why}};
}

template <class Pairs>
Json pairs_json(const Pairs& pairs) {
  Json object = Json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

Json stage_json(const StagePlan& stage) {
  Json object = Json::object();
  object["entry"] = stage.entry;
  object["tile"] = stage.tile;
  object["threads"] = stage.threads;
  object["ctas_per_sm"] = stage.ctas_per_sm;
  object["cluster_ctas"] = stage.cluster_ctas;
  object["stages"] = pipeline_json(stage.pipeline);
  object["smem_bytes"] = stage.smem_bytes;
  object["static_smem_bytes"] = known_or_null(stage.static_smem_bytes);
  object["register_budget"] = stage.register_budget;
  object["registers"] = known_or_null(stage.registers);
  object["spill_bytes"] = known_or_null(stage.spill_bytes);
  object["constants"] = pairs_json(stage.constants);
  object["types"] = pairs_json(stage.types);
  object["digest"] = stage.digest.empty() ? Json(nullptr) : Json(stage.digest);
  object["origin"] = to_string(stage.origin);
  object["compile_ms"] = stage.origin == Origin::compiled ? Json(stage.compile_ms) : Json(nullptr);
  return object;
}

}  // namespace

std::string Plan::json(int indent) const {
  Json object = Json::object();
  object["op"] = signature.op;
  object["signature"] = signature.text();
  object["family"] = family;
  object["arch"] = arch.text();
  object["route"] = to_string(route);
  if (fallback) {
    object["reason"] = {{"id", to_string(fallback->reason)}, {"detail", fallback->detail}};
  }
  object["workspace_bytes"] = workspace_bytes;
  if (!accumulate.empty()) {
    object["accumulate"] = accumulate;
    object["accumulate_reason"] =
        accumulate_reason.empty() ? Json(nullptr) : Json(accumulate_reason);
  }
  object["stages"] = Json::array();
  for (const StagePlan& stage : stages) object["stages"].push_back(stage_json(stage));
  if (!otherwise.empty()) {
    Json kernels = Json::array();
    for (const StagePlan& stage : otherwise) kernels.push_back(stage_json(stage));
    object["otherwise"] = {{"when", otherwise_when}, {"stages", std::move(kernels)}};
  }
  object["notes"] = notes;
  return object.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kiln
