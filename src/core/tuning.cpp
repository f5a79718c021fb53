// Reading and writing the choices of a tuning file.
// SPDX-License-Identifier: Apache-2.0
#include "src/core/tuning.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kiln/arch.hpp>
#include <kiln/error.hpp>
#include <kiln/signature.hpp>

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

[[noreturn]] void refuse(std::string_view place, const std::string& what) {
  throw Error(ErrorCode::invalid_policy,
              fmt::format("{}: {}; 'kiln tune SIGNATURE --store FILE' writes such a file, and "
                          "without KILN_TUNING the planner chooses",
                          place,
                          what));
}

std::string text_of(const Json& choice,
                    const char* key,
                    const std::string& where,
                    std::string_view place) {
  const auto found = choice.find(key);
  if (found == choice.end()) refuse(place, fmt::format("{} has no \"{}\"", where, key));
  if (!found->is_string()) refuse(place, fmt::format("{}: \"{}\" is no text", where, key));
  return found->get<std::string>();
}

TunedChoice parse_choice(const Json& json, std::size_t index, std::string_view place) {
  const std::string where = fmt::format("choice {}", index);
  if (!json.is_object()) refuse(place, where + " is no object");
  TunedChoice choice;
  try {
    choice.signature = Signature::parse(text_of(json, "signature", where, place)).text();
    choice.arch = Arch::parse(text_of(json, "arch", where, place)).text();
  } catch (const Error& error) {
    if (error.code == ErrorCode::invalid_policy) throw;
    refuse(place, fmt::format("{}: {}", where, error.detail));
  }
  choice.candidate = text_of(json, "candidate", where, place);
  if (choice.candidate.empty()) refuse(place, where + ": \"candidate\" is empty");
  choice.device = json.value("device", "");
  choice.problem = json.value("problem", "");
  const auto time = json.find("microseconds");
  if (time != json.end() && time->is_number()) choice.microseconds = time->get<double>();
  return choice;
}

}  // namespace

Tuning Tuning::parse(std::string_view text, std::string_view place) {
  Tuning out;
  try {
    const Json json = Json::parse(text);
    if (!json.is_object()) refuse(place, "it is no JSON object");
    const auto version = json.find("version");
    if (version == json.end() || *version != kVersion)
      refuse(place, fmt::format("\"version\" is not {}", kVersion));
    const auto choices = json.find("choices");
    if (choices == json.end() || !choices->is_array()) refuse(place, "\"choices\" is no list");
    for (std::size_t i = 0; i < choices->size(); ++i)
      out.choose(parse_choice((*choices)[i], i + 1, place));
  } catch (const Json::exception& error) {
    refuse(place, fmt::format("it is not as JSON should be: {}", error.what()));
  }
  return out;
}

std::string_view Tuning::candidate(std::string_view signature, std::string_view arch) const {
  for (const TunedChoice& choice : choices_) {
    if (choice.signature == signature && choice.arch == arch) return choice.candidate;
  }
  return {};
}

void Tuning::choose(TunedChoice choice) {
  const auto same = std::find_if(choices_.begin(), choices_.end(), [&](const TunedChoice& each) {
    return each.signature == choice.signature && each.arch == choice.arch;
  });
  if (same == choices_.end()) {
    choices_.push_back(std::move(choice));
  } else {
    *same = std::move(choice);
  }
}

std::string Tuning::text() const {
  Json json{{"version", kVersion}, {"choices", Json::array()}};
  for (const TunedChoice& choice : choices_) {
    Json each{
        {"signature", choice.signature}, {"arch", choice.arch}, {"candidate", choice.candidate}};
    if (!choice.device.empty()) each["device"] = choice.device;
    if (!choice.problem.empty()) each["problem"] = choice.problem;
    if (choice.microseconds > 0) each["microseconds"] = choice.microseconds;
    json["choices"].push_back(std::move(each));
  }
  return json.dump(2) + "\n";
}

}  // namespace kiln
