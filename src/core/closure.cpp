// Follows includes through the embedded files, and refuses what is not among them.
// SPDX-License-Identifier: Apache-2.0
#include "src/core/closure.hpp"

#include <kiln/error.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/core/diagnostics.hpp"
#include "src/core/digest.hpp"
#include "src/core/include_scanner.hpp"

namespace kiln {
namespace {

const EmbeddedFile& find_embedded(std::string_view from,
                                  const Include& include,
                                  std::span<const EmbeddedFile> files) {
  const auto found = std::ranges::find(files, include.name, &EmbeddedFile::name);
  if (found != files.end()) return *found;
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : files) names.push_back(file.name);
  throw Error{
      ErrorCode::invalid_source,
      fmt::format(
          "{}:{}: include {} is not embedded{}; name a device file by its path from the project's "
          "root, such as \"templates/types.cuh\"",
          from,
          include.line,
          quote(include.name),
          did_you_mean(include.name, names))};
}

}  // namespace

Closure close_includes(Source source, std::span<const EmbeddedFile> files) {
  Closure closure{std::move(source), {}};
  const auto follow = [&](std::string_view name, std::string_view text) {
    for (const Include& include : scan_includes(name, text)) {
      const EmbeddedFile& file = find_embedded(name, include, files);
      const auto known = std::ranges::find(closure.headers, file.name, &EmbeddedFile::name);
      if (known == closure.headers.end()) closure.headers.push_back(file);
    }
  };
  follow(kProgramName, closure.source.text);
  // Grows while it is walked: a header's own includes are appended. A copy, because the vector may
  // move.
  for (std::size_t i = 0; i < closure.headers.size(); ++i) {
    const EmbeddedFile header = closure.headers[i];
    follow(header.name, header.text);
  }
  std::ranges::sort(closure.headers, {}, &EmbeddedFile::name);
  return closure;
}

}  // namespace kiln
