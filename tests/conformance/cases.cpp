// Collects the samples and walks them up to the digest.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/cases.hpp"

#include <stdexcept>

namespace kiln::conformance {

std::optional<Plan> Case::fused(const DeviceLimits& limits, const Policy& policy) const {
  PlanResult result = family->plan(signature, limits, policy);
  if (Plan* plan = std::get_if<Plan>(&result)) return std::move(*plan);
  return std::nullopt;
}

std::string Case::text() const {
  return std::string(family->name) + ", sample " + sample.signature;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Family* family : families()) {
    for (Sample& sample : family->samples()) {
      Signature signature = Signature::parse(sample.signature);
      all.push_back({family, std::move(sample), std::move(signature)});
    }
  }
  return all;
}

std::vector<Policy> policies() {
  std::vector<Policy> all(3);
  all[1].allow_multi_stages = true;
  all[2].allow_multi_stages = true;
  all[2].max_stages = 2;
  return all;
}

std::vector<std::filesystem::path> family_folders() {
  std::vector<std::filesystem::path> folders;
  std::string_view rest = KILN_FAMILY_FOLDERS;  // relative to the source folder, separated by '|'
  while (!rest.empty()) {
    const std::size_t end = rest.find('|');
    folders.push_back(std::filesystem::path(KILN_SOURCE_DIR) / rest.substr(0, end));
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return folders;
}

std::filesystem::path folder_of(const Family& family) {
  for (const std::filesystem::path& folder : family_folders()) {
    if (folder.filename() == family.name) return folder;
  }
  throw std::runtime_error("no folder is named after the family " + std::string(family.name));
}

Closure closure_of(const Family& family, const Plan& plan, std::size_t stage) {
  return close_includes(family.emit(plan, stage), embedded_files());
}

Key key_of(const Family& family, const Closure& closure, const Arch& arch) {
  return make_key(family.name, family.emitter_version, closure, CompileOptions::standard(), arch);
}

std::string emitted_text(const Family& family, const Plan& plan) {
  std::string text;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    text += family.emit(plan, stage).text;
  }
  return text;
}

}  // namespace kiln::conformance
