// The JSON documents of the verbs that look after a cache.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/describe.hpp"
#include "tools/documents.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string document(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json explanation_json(const cache::Explanation& explanation) {
  Json json{{"digest", explanation.digest.kernel_hex()},
            {"file", explanation.file},
            {"found", explanation.found},
            {"steps", Json::array()},
            {"instead", Json::array()}};
  for (const cache::LookupStep& step : explanation.steps) {
    json["steps"].push_back(
        {{"place", step.place}, {"outcome", step.outcome}, {"detail", step.detail}});
  }
  for (const cache::Neighbour& neighbour : explanation.neighbours) {
    json["instead"].push_back({{"digest", neighbour.info.digest.kernel_hex()},
                               {"path", neighbour.path},
                               {"differences", neighbour.differences}});
  }
  return json;
}

// The source is long and is what --json is for.
std::string shown(const KeyField& field) {
  if (field.label != "source") return field.value;
  return fmt::format("{} bytes; --json shows them", field.value.size());
}

}  // namespace

std::string coverage_document(const Coverage& coverage) {
  Json json{{"kernels", Json::array()},
            {"summary",
             {{"requests", coverage.jobs.size()},
              {"cached", coverage.cached},
              {"missing", coverage.missing},
              {"composed", coverage.composed}}}};
  for (const Covered& covered : coverage.jobs) {
    json["kernels"].push_back({{"signature", covered.signature},
                               {"arch", covered.arch},
                               {"standing", to_string(covered.standing)}});
  }
  return document(json);
}

std::string why_document(const Plan& plan, const std::vector<cache::Explanation>& explanations) {
  Json json{
      {"signature", plan.signature.text()}, {"arch", plan.arch.text()}, {"kernels", Json::array()}};
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    Json kernel{{"entry", plan.stages.at(i).entry}};
    kernel.update(explanation_json(explanations[i]));
    json["kernels"].push_back(std::move(kernel));
  }
  return document(json);
}

std::string differences_document(const std::string& first,
                                 const std::string& second,
                                 const std::vector<std::string>& lines) {
  return document({{"first", first}, {"second", second}, {"differences", lines}});
}

std::string show_document(const std::string& path, const cache::Entry& entry, bool json) {
  const cache::EntryInfo info = cache::describe(entry, 0);
  if (!json) {
    std::string text = fmt::format(
        "path       {}\ndigest     {}\ntoolchain  {}\nop         {}\nentry      {}\narch       {}\n"
        "registers  {}\nspills     {} bytes\ncubin      {} bytes\n",
        path,
        info.digest.kernel_hex(),
        info.toolchain,
        info.op,
        info.entry,
        info.arch,
        info.registers,
        info.spill_bytes,
        info.cubin_bytes);
    for (const KeyField& field : entry.key.fields)
      text += fmt::format("key        {}: {}\n", field.label, shown(field));
    for (const KeyField& field : entry.key.toolchain)
      text += fmt::format("key        {}: {}\n", field.label, field.value);
    return text;
  }
  Json document_json{{"path", path},
                     {"digest", info.digest.kernel_hex()},
                     {"toolchain_digest", info.digest.toolchain_hex()},
                     {"toolchain", info.toolchain},
                     {"op", info.op},
                     {"entry", info.entry},
                     {"arch", info.arch},
                     {"registers", info.registers},
                     {"spill_bytes", info.spill_bytes},
                     {"cubin_bytes", info.cubin_bytes},
                     {"key", Json::array()}};
  for (const auto* fields : {&entry.key.fields, &entry.key.toolchain}) {
    for (const KeyField& field : *fields)
      document_json["key"].push_back({{"field", field.label}, {"value", field.value}});
  }
  return document(document_json);
}

std::string gc_document(const cache::GcResult& result) {
  return document({{"ran", result.ran},
                   {"reason", result.reason},
                   {"entries", result.entries},
                   {"bytes", result.bytes},
                   {"removed", result.removed},
                   {"removed_bytes", result.removed_bytes},
                   {"young", result.young}});
}

std::string stats_document(const std::string& root, const std::vector<cache::Statistic>& lines) {
  Json json{{"root", root}, {"counts", Json::object()}};
  for (const cache::Statistic& line : lines) json["counts"][std::string(line.name)] = line.count;
  return document(json);
}

}  // namespace kiln::cli
