// The JSON documents of the verbs.
// SPDX-License-Identifier: Apache-2.0
#include "tools/documents.hpp"

#include <nlohmann/json.hpp>

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

// Text from outside (paths, logs) may not be UTF-8; a document always is.
std::string document(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// JSON has no infinity: an element out of a zero bound.
Json number(double value) {
  return value <= std::numeric_limits<double>::max() ? Json(value) : Json("infinite");
}

Json check_json(const verify::TensorCheck& check) {
  return {{"tensor", check.name},
          {"elements", check.elements},
          {"wrong", check.wrong},
          {"worst_error", number(check.worst_error)},
          {"worst_error_over_bound", number(check.worst_ratio)},
          {"worst_element", check.worst_element}};
}

Json timing_json(const verify::Examination& examination) {
  const verify::Timing& timing = *examination.timing;
  return {{"rows", examination.options.time_rows},
          {"bytes", examination.timed_bytes},
          {"flops", examination.timed_flops},
          {"microseconds", timing.microseconds},
          {"fastest", timing.fastest},
          {"slowest", timing.slowest},
          {"gigabytes_per_second", timing.gigabytes_per_second},
          {"copy_microseconds", timing.copy_microseconds},
          {"ratio_to_copy", timing.ratio_to_copy},
          {"repetitions", timing.repetitions}};
}

Json entry_json(const RunEntry& entry) {
  Json json{{"signature", entry.signature}};
  if (!entry.error_code.empty()) {
    json["passed"] = false;
    json["error"] = {{"code", entry.error_code}, {"detail", entry.error}};
    return json;
  }
  const verify::Examination& examination = entry.examination;
  json["passed"] = examination.passed();
  json["rows"] = examination.options.check_rows;
  json["seed"] = examination.options.seed;
  if (examination.options.groups) {
    json["groups"] = examination.options.groups->text();
    json["groups_checked"] = examination.checked_groups;
  }
  json["checks"] = Json::array();
  for (const verify::TensorCheck& check : examination.checks)
    json["checks"].push_back(check_json(check));
  json["bits"] = Json::array();
  for (const verify::BitCheck& check : examination.bit_checks) {
    json["bits"].push_back({{"what", check.what}, {"equal", check.difference.empty()}});
  }
  json["failures"] = examination.failures;
  json["timing"] = examination.timing ? timing_json(examination) : Json(nullptr);
  json["plan"] = Json::parse(examination.plan.json());
  return json;
}

}  // namespace

std::string error_document(const Error& error) {
  return document({{"error", {{"code", to_string(error.code)}, {"detail", error.detail}}}});
}

std::string source_document(const Plan& plan, std::size_t stage, std::string_view source) {
  return document({{"signature", plan.signature.text()},
                   {"arch", plan.arch.text()},
                   {"stage", stage},
                   {"entry", plan.stages.at(stage).entry},
                   {"source", source}});
}

std::string list_document(const std::string& root, const std::vector<cache::Found>& entries) {
  Json json{{"root", root}, {"entries", Json::array()}};
  for (const cache::Found& entry : entries) {
    const cache::EntryInfo& info = entry.info;
    json["entries"].push_back({{"digest", info.digest.kernel_hex()},
                               {"toolchain_digest", info.digest.toolchain_hex()},
                               {"toolchain", info.toolchain},
                               {"family", info.family},
                               {"op", info.op},
                               {"arch", info.arch},
                               {"entry", info.entry},
                               {"registers", info.registers},
                               {"spill_bytes", info.spill_bytes},
                               {"cubin_bytes", info.cubin_bytes},
                               {"file_bytes", info.file_bytes},
                               {"layer", entry.from_layer},
                               {"path", entry.path}});
  }
  return document(json);
}

std::string verify_document(const std::string& root,
                            std::int64_t checked,
                            const std::vector<cache::VerifyProblem>& problems) {
  Json json{{"root", root}, {"checked", checked}, {"problems", Json::array()}};
  for (const cache::VerifyProblem& problem : problems) {
    json["problems"].push_back({{"path", problem.path}, {"reason", problem.reason}});
  }
  return document(json);
}

std::string doctor_document(const std::vector<Finding>& findings) {
  Json json{{"usable", true}, {"findings", Json::array()}};
  for (const Finding& finding : findings) {
    if (finding.health == Health::broken) json["usable"] = false;
    json["findings"].push_back({{"subject", finding.subject},
                                {"health", to_string(finding.health)},
                                {"detail", finding.detail},
                                {"advice", finding.advice},
                                {"more", finding.more}});
  }
  return document(json);
}

std::string tune_document(const TuneReport& report) {
  Json json{{"device", report.device},
            {"arch", report.arch},
            {"signature", report.signature},
            {"rows", report.rows},
            {"groups", report.groups},
            {"planners_microseconds", report.planners_us},
            {"noise", report.noise},
            {"winner", report.winner},
            {"stored", report.stored},
            {"candidates", Json::array()}};
  for (const TuneEntry& entry : report.entries) {
    json["candidates"].push_back({{"name", entry.name},
                                  {"tile", entry.tile},
                                  {"failure", entry.failure},
                                  {"microseconds", entry.microseconds},
                                  {"samples", entry.samples_us}});
  }
  return document(json);
}

std::string run_document(const RunReport& report) {
  Json json{{"device", report.device},
            {"arch", report.arch},
            {"untimed", report.untimed},
            {"kernels", Json::array()}};
  for (const RunEntry& entry : report.entries) json["kernels"].push_back(entry_json(entry));
  return document(json);
}

}  // namespace kiln::cli
