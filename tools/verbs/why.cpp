// `kiln why` and `kiln show`: what two keys differ in, what was looked up and where, what an entry
// holds.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "cache/describe.hpp"
#include "cache/difference.hpp"
#include "cache/store.hpp"
#include "tools/documents.hpp"
#include "tools/entries.hpp"
#include "tools/exit_code.hpp"
#include "tools/keys.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::cli {
namespace {

std::string as_text(const cache::Explanation& explanation) {
  std::string text = fmt::format("digest   {}\nfile     {}\nresult   {}\n",
                                 explanation.digest.kernel_hex(),
                                 explanation.file,
                                 explanation.found ? "hit" : "miss");
  for (const cache::LookupStep& step : explanation.steps)
    text += fmt::format("looked   {}: {}: {}\n", step.place, step.outcome, step.detail);
  if (explanation.found) return text;
  for (const cache::Neighbour& neighbour : explanation.neighbours) {
    text += fmt::format("instead  {}\n", neighbour.path);
    for (const std::string& difference : neighbour.differences)
      text += fmt::format("         {}\n", difference);
  }
  if (explanation.neighbours.empty()) {
    text += "instead  nothing of this family, op and architecture\n";
  }
  return text;
}

// Every kernel of the plan; a miss of one is a miss.
int why_signature(const WhyOptions& options) {
  const Policy policy = Policy::from_env();
  Service service(service_options());
  const std::vector<std::string> names =
      options.arch.empty() ? std::vector<std::string>{} : std::vector<std::string>{options.arch};
  const Plan plan =
      service.plan(Signature::parse(options.first), resolve_archs(names, service).front());
  const std::vector<Key> keys = keys_of(plan, current_toolchain(policy));
  if (keys.empty()) {
    throw Error(ErrorCode::unavailable,
                fmt::format("{} takes the composed route on {}: nothing is looked up ({})",
                            plan.signature.text(),
                            plan.arch.text(),
                            plan.fallback ? plan.fallback->detail : ""));
  }
  cache::Store store(store_options(policy));
  std::vector<cache::Explanation> explanations;
  bool found = true;
  for (const Key& key : keys) {
    explanations.push_back(store.explain(key));
    found = found && explanations.back().found;
  }
  if (options.json) {
    print(why_document(plan, explanations));
  } else {
    std::string text;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      text += fmt::format("{}kernel   {} for {}\n{}",
                          i > 0 ? "\n" : "",
                          plan.stages[i].entry,
                          plan.arch.text(),
                          as_text(explanations[i]));
    }
    print(text);
  }
  return found ? kDone : kFailed;
}

int why_pair(const WhyOptions& options) {
  const Key first = key_named(options.first, options.arch);
  const Key second = key_named(options.second, options.arch);
  const std::vector<std::string> lines = cache::differences(first, second);
  if (options.json) {
    print(differences_document(options.first, options.second, lines));
  } else if (lines.empty()) {
    print("the keys are equal\n");
  } else {
    for (const std::string& line : lines) print(line + "\n");
  }
  return kDone;
}

}  // namespace

int why(const WhyOptions& options) {
  return options.second.empty() ? why_signature(options) : why_pair(options);
}

int show(const WhyOptions& options) {
  const Policy policy = Policy::from_env();
  cache::Store store(store_options(policy));
  std::string path = options.first;
  if (options.first.find(':') != std::string::npos &&
      options.first.find('/') == std::string::npos) {
    const std::optional<cache::Found> found =
        find_entry(store, key_named(options.first, options.arch));
    if (!found) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} is not in the cache; `kiln why` says what is there instead",
                              options.first));
    }
    path = found->path;
  } else if (options.first.find('/') == std::string::npos) {
    path = entry_with_digest(store, options.first).path;
  }
  const cache::Entry entry = read_entry_at(path);
  print(show_document(path, entry, options.json));
  return kDone;
}

}  // namespace kiln::cli
