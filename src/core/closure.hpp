// A source and the text of every header it reaches: all that the compiler will see.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// Emitted CUDA source of one kernel.
struct Source {
  std::string text;
  std::string entry;  // the extern "C" symbol

  bool operator==(const Source&) const = default;
};

struct EmbeddedFile {
  std::string_view name;  // virtual path from the project root: "templates/types.cuh"
  std::string_view text;
  std::optional<std::array<std::uint8_t, 32>> sha256 = {};  // of the text, where it is known
};

// Every device file of templates/ and kernels/, sorted by name; generated at build time.
[[nodiscard]] std::span<const EmbeddedFile> embedded_files() noexcept;

struct Closure {
  Source source;
  std::vector<EmbeddedFile>
      headers;  // reached from the source, sorted by name; views into the embedded files
};

// Fail-closed: throws Error{invalid_source}, naming file and line, for an include that is not
// embedded, a computed include, __has_include, #embed and every other unknown directive, __DATE__,
// __TIME__, __TIMESTAMP__, token pasting (it can build those names), and text whose comments or
// literals cannot be told for sure. Includes are virtual paths from the root, also in skipped #if
// groups.
[[nodiscard]] Closure close_includes(Source source, std::span<const EmbeddedFile> files);

// The same for many sources over the same files, each of which is read and hashed at most once: a
// key of an op that was seen before costs microseconds. Any number of threads may ask.
class Headers {
 public:
  explicit Headers(std::span<const EmbeddedFile> files);
  ~Headers();
  Headers(const Headers&) = delete;
  Headers& operator=(const Headers&) = delete;

  [[nodiscard]] Closure close(Source source) const;

 private:
  struct Read;
  [[nodiscard]] std::size_t find(std::string_view from,
                                 std::string_view name,
                                 std::size_t line) const;
  [[nodiscard]] const Read& read(std::size_t index) const;

  std::span<const EmbeddedFile> files_;
  std::unique_ptr<Read[]> read_;  // one a file
};

}  // namespace kiln
