// Outcomes as JSON: a line between processes, and an element of the report.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/warm/outcome.hpp"
#include "tools/warm/report.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json wire_row(const KernelRow& row) {
  return {{"tile", row.tile},
          {"stages", row.stages},
          {"smem_bytes", row.smem_bytes},
          {"registers", row.registers},
          {"compile_ms", row.compile_ms},
          {"digest", row.digest},
          {"origin", row.origin}};
}

KernelRow row_of(const Json& json) {
  KernelRow row;
  row.tile = json.at("tile");
  row.stages = json.at("stages");
  row.smem_bytes = json.at("smem_bytes");
  row.registers = json.at("registers");
  row.compile_ms = json.at("compile_ms");
  row.digest = json.at("digest");
  row.origin = json.at("origin");
  return row;
}

Json report_element(const Outcome& outcome, const WarmReport& report) {
  Json json{{"signature", outcome.signature},
            {"arch", outcome.arch},
            {"milliseconds", outcome.milliseconds}};
  json["result"] = result_word(outcome);
  if (outcome.failed()) json["error"] = {{"code", outcome.error_code}, {"detail", outcome.error}};
  if (!outcome.plan_json.empty()) json["plan"] = Json::parse(outcome.plan_json);
  const auto models = report.models.find(outcome.signature);
  if (models != report.models.end()) json["models"] = models->second;
  return json;
}

Json summary_json(const WarmReport& report) {
  const WarmSummary summary = summarize(report);
  return {{"requests", report.outcomes.size()},
          {"hits", summary.hits},
          {"compiled", summary.compiled},
          {"embedded", summary.embedded},
          {"composed", summary.composed},
          {"failed", summary.failed},
          {"bad_lines", report.faults.size()},
          {"compile_ms_median", summary.compile_ms_median},
          {"seconds", report.seconds},
          {"processes", report.processes},
          {"nvrtc_loaded", summary.nvrtc_loaded}};
}

}  // namespace

std::string to_line(const Outcome& outcome) {
  Json json{{"job", outcome.job},
            {"signature", outcome.signature},
            {"arch", outcome.arch},
            {"error_code", outcome.error_code},
            {"error", outcome.error},
            {"route", outcome.route},
            {"reason", outcome.reason},
            {"reason_detail", outcome.reason_detail},
            {"milliseconds", outcome.milliseconds},
            {"nvrtc_loaded", outcome.nvrtc_loaded},
            {"warnings", outcome.warnings},
            {"plan_json", outcome.plan_json}};
  json["kernels"] = Json::array();
  for (const KernelRow& row : outcome.kernels) json["kernels"].push_back(wire_row(row));
  return dump(json);
}

Outcome from_line(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    Outcome outcome;
    outcome.job = json.at("job");
    outcome.signature = json.at("signature");
    outcome.arch = json.at("arch");
    outcome.error_code = json.at("error_code");
    outcome.error = json.at("error");
    outcome.route = json.at("route");
    outcome.reason = json.at("reason");
    outcome.reason_detail = json.at("reason_detail");
    outcome.milliseconds = json.at("milliseconds");
    outcome.nvrtc_loaded = json.at("nvrtc_loaded");
    outcome.warnings = json.at("warnings").get<std::vector<std::string>>();
    outcome.plan_json = json.at("plan_json");
    for (const Json& row : json.at("kernels")) outcome.kernels.push_back(row_of(row));
    return outcome;
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::internal,
                fmt::format("a worker answered something else than an outcome: {}", error.what()));
  }
}

std::string progress_line(const Outcome& outcome, const ProgressCount& count) {
  const double rate = count.seconds > 0 ? static_cast<double>(count.done) / count.seconds : 0;
  Json json{
      {"event", "kernel"},
      {"signature", outcome.signature},
      {"arch", outcome.arch},
      {"result", result_word(outcome)},
      {"milliseconds", outcome.milliseconds},
      {"done", count.done},
      {"total", count.total},
      {"per_second", rate},
      {"seconds_left", rate > 0 ? static_cast<double>(count.total - count.done) / rate : 0.0}};
  if (outcome.failed()) json["error"] = {{"code", outcome.error_code}, {"detail", outcome.error}};
  return dump(json) + "\n";
}

std::string summary_line(const WarmReport& report) {
  Json json{{"event", "summary"}};
  json.update(summary_json(report));
  return dump(json) + "\n";
}

std::string report_json(const WarmReport& report) {
  Json json = Json::object();
  json["kernels"] = Json::array();
  for (const Outcome& outcome : report.outcomes)
    json["kernels"].push_back(report_element(outcome, report));
  json["problems"] = Json::array();
  for (const RecipeFault& fault : report.faults) {
    json["problems"].push_back(
        {{"recipe", fault.recipe}, {"line", fault.line}, {"detail", fault.detail}});
  }
  json["warnings"] = report.warnings;
  json["summary"] = summary_json(report);
  return dump(json, 2) + "\n";
}

}  // namespace kiln::cli
