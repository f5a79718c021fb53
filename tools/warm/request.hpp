// What a command line asks to be warmed or packed: signatures without repetitions, and bad lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <kiln/service.hpp>
#include <kiln/signature.hpp>

#include "tools/warm/outcome.hpp"
#include "tools/warm/report.hpp"

namespace kiln::cli {

struct Requested {
  std::vector<Signature> signatures;  // in order
  std::vector<RecipeFault> faults;
  std::map<std::string, std::vector<std::string>> models;  // by signature
  std::string name;                                        // of the recipes, without folders
};

// Throws Error for a bad signature and for a recipe that is unusable as a whole.
[[nodiscard]] Requested requested(const std::vector<std::string>& signatures,
                                  const std::vector<std::string>& recipes);

// Every signature on every architecture.
[[nodiscard]] std::vector<Job> jobs_of(const Requested& request,
                                       const std::vector<std::string>& archs,
                                       Service& service);

}  // namespace kiln::cli
