// `kiln doctor`: what is there, what is wrong, what to do.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kiln/service.hpp>

#include "tools/doctor/checks.hpp"
#include "tools/documents.hpp"
#include "tools/exit_code.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::cli {
namespace {

Colour colour_of(Health health) {
  switch (health) {
    case Health::good:
      return Colour::green;
    case Health::absent:
    case Health::warning:
      return Colour::yellow;
    case Health::broken:
      return Colour::red;
  }
  return Colour::none;
}

std::vector<Finding> all_findings(const CacheOptions& options) {
  Examined examined;
  std::vector<Finding> findings{{"kiln", Health::good, std::string(version()), {}, {}}};
  const auto add = [&](std::vector<Finding> more) {
    findings.insert(
        findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  findings.push_back(check_environment(examined));
  findings.push_back(check_loader_environment());
  findings.push_back(check_driver(examined));
  add(check_devices(examined));
  findings.push_back(check_nvrtc(examined));
  add(check_cache(examined));
  if (examined.policy && !examined.policy->cache_dir.empty())
    findings.push_back(check_file_system(examined.policy->cache_dir));
  if (!options.recipes.empty())
    findings.push_back(check_coverage(examined, options.recipes, options.archs));
  findings.push_back(check_composed(examined));
  return findings;
}

std::string as_text(const std::vector<Finding>& findings, bool colour) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format(
        "{} {:<17} {}\n",
        coloured(
            fmt::format("{:<8}", to_string(finding.health)), colour_of(finding.health), colour),
        finding.subject,
        finding.detail);
    for (const std::string& line : finding.more) text += fmt::format("{:27}{}\n", "", line);
    if (!finding.advice.empty()) text += fmt::format("{:27}do this: {}\n", "", finding.advice);
  }
  return text;
}

}  // namespace

int doctor(const CacheOptions& options) {
  const std::vector<Finding> findings = all_findings(options);
  print(options.json ? doctor_document(findings) : as_text(findings, stdout_takes_colour()));
  const bool broken = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.health == Health::broken;
  });
  return broken ? kFailed : kDone;
}

}  // namespace kiln::cli
