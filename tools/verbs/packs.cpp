// `kiln pack`, `unpack`, `sign`, `keygen` and `trust`.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "cache/pack.hpp"
#include "cache/pack_keys.hpp"
#include "cache/store.hpp"
#include "tools/exit_code.hpp"
#include "tools/keys.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"
#include "tools/warm/coverage.hpp"
#include "tools/warm/request.hpp"

namespace kiln::cli {
namespace {

template <class Value>
Value value_or_throw(std::variant<Value, cache::Problem> result) {
  if (auto* problem = std::get_if<cache::Problem>(&result))
    throw Error(ErrorCode::io_error, std::move(problem->text));
  return std::get<Value>(std::move(result));
}

std::string trusted_folder() {
  std::string folder = Policy::from_env().trusted_keys;
  if (folder.empty()) {
    throw Error(ErrorCode::invalid_policy,
                "KILN_TRUSTED_KEYS is not set; set it to a folder of your own for public keys");
  }
  return folder;
}

// Everything of the folder and the layers.
cache::PackContents everything() {
  cache::Store store(store_options(Policy::from_env()));
  cache::PackContents contents;
  for (const cache::Found& entry : store.list())
    contents.sources.push_back({entry.info.digest, entry.path});
  return contents;
}

// What a recipe asks for; what is not in the cache is named and makes the pack incomplete.
int pack_recipe(const PackOptions& options) {
  Service service(service_options());
  const Requested request = requested(options.signatures, options.recipes);
  for (const RecipeFault& fault : request.faults)
    remark(fmt::format("kiln: {}, line {}: {}", fault.recipe, fault.line, fault.detail));
  cache::Store store(store_options(service.options().policy));
  const Coverage coverage = cover(jobs_of(request, options.archs, service), service, store, true);
  for (const Covered& covered : coverage.jobs) {
    if (covered.standing != Standing::missing) continue;
    remark(fmt::format("kiln: {} for {} is not in the cache", covered.signature, covered.arch));
  }
  write_bundle(options.file, coverage, request.name, request.faults.empty());
  return coverage.missing == 0 && request.faults.empty() ? kDone : kFailed;
}

}  // namespace

int pack(const PackOptions& options) {
  if (!options.recipes.empty() || !options.signatures.empty()) return pack_recipe(options);
  const cache::PackContents contents = everything();
  if (const auto problem = cache::write_pack(options.file, contents))
    throw Error(ErrorCode::io_error, problem->text);
  remark(fmt::format("kiln: {} kernels in {}", contents.sources.size(), options.file));
  return kDone;
}

int unpack(const PackOptions& options) {
  const Policy policy = Policy::from_env();
  if (policy.cache_dir.empty()) throw Error(ErrorCode::invalid_policy, policy.cache_dir_reason);
  const cache::SignatureCheck check{
      options.require_signature ? cache::SignaturePolicy::require : cache::SignaturePolicy::warn,
      policy.trusted_keys};
  const cache::Pack pack = value_or_throw(cache::Pack::open(options.file, check));
  if (!pack.warning().empty()) remark("kiln: warning: " + pack.warning());
  const cache::Unpacked unpacked = cache::unpack(pack, policy.cache_dir);
  for (const cache::VerifyProblem& problem : unpacked.problems)
    remark(fmt::format("kiln: {}: {}", problem.path, problem.reason));
  print(fmt::format("{} kernels stored, {} already there, {} bad\n",
                    unpacked.stored,
                    unpacked.already_there,
                    unpacked.problems.size()));
  return unpacked.problems.empty() ? kDone : kFailed;
}

int sign(const SignOptions& options) {
  if (const auto problem = cache::sign_pack(options.file, options.key))
    throw Error(ErrorCode::io_error, problem->text);
  return kDone;
}

int keygen(const SignOptions& options) {
  const std::string id = value_or_throw(cache::make_key_pair(options.file));
  print(fmt::format("{}\n", id));
  remark(fmt::format(
      "kiln: keep {} secret; give {}.pub to those who shall trust it", options.file, options.file));
  return kDone;
}

int trust(const SignOptions& options) {
  const std::string folder = trusted_folder();
  const std::string id = value_or_throw(cache::trust_key(options.file, folder));
  print(fmt::format("{}\n", id));
  remark(
      fmt::format("kiln: packs signed by this key are trusted where KILN_TRUSTED_KEYS={}", folder));
  return kDone;
}

}  // namespace kiln::cli
