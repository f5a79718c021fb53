// How much of a request is in the cache, and where.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kiln/service.hpp>

#include "cache/pack.hpp"
#include "cache/store.hpp"
#include "tools/warm/outcome.hpp"

namespace kiln::cli {

enum class Standing {
  cached,    // every kernel is there
  missing,   // at least one would be compiled
  composed,  // the composed kernels serve, which need no cache
};
[[nodiscard]] std::string_view to_string(Standing standing) noexcept;

struct Covered {
  std::string signature;
  std::string arch;
  Standing standing = Standing::missing;
  std::vector<cache::PackSource> sources;  // of what was found, when asked for
};

struct Coverage {
  std::vector<Covered> jobs;  // in order
  std::size_t cached = 0;
  std::size_t missing = 0;
  std::size_t composed = 0;
};

// Compiles nothing. Without `sources` the store counts and repairs nothing either.
[[nodiscard]] Coverage cover(const std::vector<Job>& jobs,
                             Service& service,
                             cache::Store& store,
                             bool sources);

// Writes exactly the entries of the request, copied from wherever they are. Throws Error{io_error}.
void write_bundle(const std::string& path,
                  const Coverage& coverage,
                  const std::string& recipe_name,
                  bool complete);

}  // namespace kiln::cli
