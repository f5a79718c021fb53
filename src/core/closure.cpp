// Follows includes through the embedded files, and refuses what is not among them.
// SPDX-License-Identifier: Apache-2.0
#include "src/core/closure.hpp"

#include <kiln/error.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "src/core/diagnostics.hpp"
#include "src/core/digest.hpp"
#include "src/core/include_scanner.hpp"

namespace kiln {

// What was found in one file: the files that it includes and its hash, or why it is refused.
struct Headers::Read {
  std::once_flag once;
  std::vector<std::size_t> includes;
  Sha256 sha256{};
  std::optional<Error> refusal;
};

Headers::Headers(std::span<const EmbeddedFile> files)
    : files_(files), read_(std::make_unique<Read[]>(files.size())) {}

Headers::~Headers() = default;

std::size_t Headers::find(std::string_view from, std::string_view name, std::size_t line) const {
  const auto found = std::ranges::find(files_, name, &EmbeddedFile::name);
  if (found != files_.end()) return static_cast<std::size_t>(found - files_.begin());
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : files_) names.push_back(file.name);
  throw Error{
      ErrorCode::invalid_source,
      fmt::format(
          "{}:{}: include {} is not embedded{}; name a device file by its path from the project's "
          "root, such as \"templates/types.cuh\"",
          from,
          line,
          quote(name),
          did_you_mean(name, names))};
}

const Headers::Read& Headers::read(std::size_t index) const {
  Read& read = read_[index];
  std::call_once(read.once, [&] {
    const EmbeddedFile& file = files_[index];
    try {
      for (const Include& include : scan_includes(file.name, file.text))
        read.includes.push_back(find(file.name, include.name, include.line));
      read.sha256 = kiln::sha256(file.text);
    } catch (const Error& error) {
      read.refusal = error;
    }
  });
  if (read.refusal) throw *read.refusal;
  return read;
}

Closure Headers::close(Source source) const {
  std::vector<std::size_t> reached;
  const auto reach = [&](std::size_t index) {
    if (std::ranges::find(reached, index) == reached.end()) reached.push_back(index);
  };
  for (const Include& include : scan_includes(kProgramName, source.text))
    reach(find(kProgramName, include.name, include.line));
  // Grows while it is walked.
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const std::size_t include : read(reached[i]).includes) reach(include);
  }
  // Files are mostly given in the order of their names: then this is what the sort below is for.
  std::ranges::sort(reached);
  Closure closure{std::move(source), {}};
  closure.headers.reserve(reached.size());
  for (const std::size_t index : reached)
    closure.headers.push_back({files_[index].name, files_[index].text, read(index).sha256});
  std::ranges::sort(closure.headers, {}, &EmbeddedFile::name);
  return closure;
}

Closure close_includes(Source source, std::span<const EmbeddedFile> files) {
  return Headers(files).close(std::move(source));
}

}  // namespace kiln
