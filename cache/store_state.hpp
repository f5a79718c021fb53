// What a store keeps between calls. No descriptor is among it, so that a cache that is moved or
// removed is seen as it is; packs, which are immutable, stay open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/entry.hpp"
#include "cache/layout.hpp"
#include "cache/publish.hpp"
#include "cache/search.hpp"
#include "cache/statistics.hpp"
#include "cache/store.hpp"

namespace kiln::cache {

struct Store::State {
  explicit State(const StoreOptions& store_options);

  std::optional<Root> open_writable();
  void count_miss(const Key& key) noexcept;
  void count_put(const Key& key, const Published& outcome) noexcept;
  Published publish_entry(const Entry& entry, std::string_view signature);
  EntryLock wait(Descriptor file,
                 const Key& key,
                 std::chrono::milliseconds budget,
                 std::optional<Found>& found);

  // Eviction by puts: now and then, when the folder that was put into looks too full.
  void after_put(const Root& root, const EntryName& name, std::int64_t file_bytes);
  // Frees space after a put met a full disk.
  void shed(const Root& root, std::int64_t file_bytes);
  [[nodiscard]] bool writes_paused() noexcept;
  void pause_writes() noexcept;
  GcResult run_gc(const Root& root, const GcOptions& asked);

  // Appends to v1/stat what was counted, when it is time or `now`. Creates no root. False: another
  // process is in the way, try again.
  bool save_statistics(bool now) noexcept;
  void save_finally() noexcept;

  const StoreOptions& options;
  std::string lock_folder;
  Tally tally;
  Search search;
  Unsaved unsaved;
  std::atomic<bool> swept{false};
  std::atomic<std::int64_t> bytes_put{0};    // since the size was last looked at
  std::atomic<std::int64_t> allowance{0};    // bytes to put before a whole survey is due again
  std::atomic<std::int64_t> quiet_until{0};  // steady milliseconds
};

}  // namespace kiln::cache
