// A pack while it is written: invisible until it is whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "cache/layout.hpp"

namespace kiln::cache {

class PackDraft {
 public:
  // In the folder of `path`; without a name where the file system can (then a killed process leaves
  // nothing). Sweeps what killed processes left of this pack more than an hour ago.
  [[nodiscard]] static std::variant<PackDraft, Problem> create(const std::string& path);

  PackDraft(PackDraft&&) noexcept;
  PackDraft& operator=(PackDraft&&) = delete;
  PackDraft(const PackDraft&) = delete;
  PackDraft& operator=(const PackDraft&) = delete;
  ~PackDraft();

  [[nodiscard]] std::optional<Problem> append(std::span<const std::byte> bytes);
  [[nodiscard]] std::optional<Problem> overwrite_beginning(std::span<const std::byte> bytes);
  // Synced, then under its name, replacing what was there; mode 0644 & ~umask.
  [[nodiscard]] std::optional<Problem> publish();

 private:
  PackDraft() = default;
  [[nodiscard]] Problem problem(const char* doing) const;
  [[nodiscard]] std::string temporary_name() const;

  std::string path_;       // of the pack, for the text
  std::string name_;       // in the folder
  std::string temporary_;  // in the folder; empty while the file has no name
  Descriptor folder_;
  Descriptor file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace kiln::cache
