// Reading recipes for the verbs that take them.
// SPDX-License-Identifier: Apache-2.0
#include "tools/warm/request.hpp"

#include <set>

#include "tools/recipe.hpp"
#include "tools/session.hpp"

namespace kiln::cli {

Requested requested(const std::vector<std::string>& signatures,
                    const std::vector<std::string>& recipes) {
  Requested request;
  std::set<Signature> seen;
  const auto add = [&](const Signature& signature) {
    if (seen.insert(signature).second) request.signatures.push_back(signature);
  };
  const auto add_all = [&](const Recipe& recipe) {
    for (const RecipeProblem& problem : recipe.problems)
      request.faults.push_back({recipe.name, problem.line, problem.detail});
    for (const RecipeEntry& entry : recipe.entries) {
      add(entry.signature);
      if (!entry.model.empty()) request.models[entry.signature.text()].push_back(entry.model);
    }
  };
  for (const std::string& text : signatures) {
    // Lists and ranges as in a recipe's line; what begins with a brace is no signature.
    const std::size_t brace = text.find('{');
    if (brace == 0 || brace == std::string::npos) {
      add(Signature::parse(text));
    } else {
      add_all(parse_recipe(text, "--signature"));
    }
  }
  for (const std::string& path : recipes) {
    if (!request.name.empty()) request.name += '+';
    request.name += path.substr(path.rfind('/') + 1);
    add_all(read_recipe(path));
  }
  return request;
}

std::vector<Job> jobs_of(const Requested& request,
                         const std::vector<std::string>& archs,
                         Service& service) {
  std::vector<Job> jobs;
  for (const Arch& arch : resolve_archs(archs, service)) {
    for (const Signature& signature : request.signatures) jobs.push_back({signature, arch});
  }
  return jobs;
}

}  // namespace kiln::cli
