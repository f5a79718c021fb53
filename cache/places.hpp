// The places of a store in the order they are asked: its root, then read-only folders and packs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/gate.hpp"
#include "cache/layout.hpp"
#include "cache/pack.hpp"

namespace kiln::cache {

// A pack is opened at the first look and stays open: it is immutable.
class PackFile {
 public:
  explicit PackFile(std::string path, SignatureCheck check);

  // Others wait for the first, but not for ever: a child that was forked while another thread
  // opened it does so itself. Null where there is none or it is not to be used; then `problem` says
  // why, unless it is missing.
  [[nodiscard]] std::shared_ptr<const Pack> open(std::optional<Problem>& problem);

 private:
  const std::string path_;
  const SignatureCheck check_;
  [[nodiscard]] std::shared_ptr<const Pack> open_now(std::optional<Problem>& problem) const;

  std::mutex mutex_;
  std::shared_ptr<const Pack> pack_;
  std::optional<Problem> problem_;  // of the last attempt, which is not repeated at every look
  std::chrono::steady_clock::time_point attempt_again_{};
};

struct Place {
  std::string path;
  RootKind kind = RootKind::own;
  std::shared_ptr<PackFile> pack = {};      // of a pack
  std::shared_ptr<Gate> gate = {};          // of a folder
  std::optional<Problem> refusal = {};      // why it is never used
  std::optional<Problem> reservation = {};  // what is doubtful about it
};

// `layers` as in StoreOptions.
[[nodiscard]] std::vector<Place> places_of(const std::string& root,
                                           const std::vector<std::string>& layers,
                                           const std::string& trusted_keys);

}  // namespace kiln::cache
