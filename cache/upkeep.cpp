// What keeps a store in bounds: eviction, full disks, remembered failures, statistics.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <exception>
#include <thread>

#include "cache/evict.hpp"
#include "cache/remembered.hpp"
#include "cache/store_state.hpp"

namespace kiln::cache {
namespace {

using std::chrono::milliseconds;

// One put in so many looks at its folder, chosen by the digest, so that processes that put little
// look as well.
constexpr int kLookEvery = 16;
// A process looks at least after putting this part of the bound.
constexpr std::int64_t kLookFraction = 64;
// After a survey, this part of what was free may be put before the next one.
constexpr std::int64_t kAllowanceFraction = 4;
constexpr milliseconds kWritePause{60'000};
// At exit others may be appending: tried so often, a millisecond apart.
constexpr int kLastAttempts = 20;

std::int64_t steady_ms() noexcept {
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string subject_of(const Digest& digest) {
  return digest.kernel_hex() + "." + hex(digest.toolchain);
}

std::string subject_of(const Digest& digest, std::string_view driver) {
  return subject_of(digest) + " " + std::string(driver);
}

}  // namespace

bool Store::State::writes_paused() noexcept { return steady_ms() < quiet_until; }

void Store::State::pause_writes() noexcept { quiet_until = steady_ms() + kWritePause.count(); }

GcResult Store::State::run_gc(const Root& root, const GcOptions& asked) {
  const std::chrono::seconds max_age = asked.max_age.value_or(options.max_age);
  const EvictionBounds bounds{asked.max_bytes.value_or(options.max_bytes),
                              max_age.count(),
                              asked.shed_bytes,
                              asked.dry_run};
  GcResult result = evict(root, bounds);
  if (!result.ran || asked.dry_run) return result;
  tally.count(&Counters::gc_runs, nullptr, root.path);
  tally.count(&Counters::evicted, nullptr, root.path, static_cast<std::uint64_t>(result.removed));
  tally.count(&Counters::evicted_bytes,
              nullptr,
              root.path,
              static_cast<std::uint64_t>(result.removed_bytes));
  const std::int64_t left = bounds.max_bytes - (result.bytes - result.removed_bytes);
  allowance = std::max(left, bounds.max_bytes / 10) / kAllowanceFraction;
  return result;
}

void Store::State::after_put(const Root& root, const EntryName& name, std::int64_t file_bytes) {
  if (options.max_bytes <= 0) return;
  const std::int64_t put = bytes_put += occupied_bytes(file_bytes);
  const bool chosen = name.file.front() == '0';  // one digest in kLookEvery
  static_assert(kLookEvery == 16);
  if (!chosen && put < options.max_bytes / kLookFraction) return;
  if (put < allowance) return;
  bytes_put = 0;
  if (estimate_bytes(root, name.folder) > options.max_bytes) (void)run_gc(root, {});
}

void Store::State::shed(const Root& root, std::int64_t file_bytes) {
  tally.count(&Counters::disk_full, nullptr, root.path);
  (void)run_gc(root, {.shed_bytes = 4 * occupied_bytes(file_bytes)});
}

bool Store::State::save_statistics(bool now) noexcept {
  if (options.root.empty() || (!unsaved.due() && !now)) return true;
  try {
    return unsaved.flush(tally.counters(), [&](const Sums& delta) {
      // Problems with the root were told when it was looked into.
      const auto opened = open_root(options.root, RootKind::own);
      const auto* root = std::get_if<Root>(&opened);
      return root != nullptr && append_statistics(*root, delta);
    });
  } catch (...) {
    return true;  // out of memory: what is not saved now is saved later
  }
}

void Store::State::save_finally() noexcept {
  for (int i = 0; i < kLastAttempts; ++i) {
    if (save_statistics(true)) return;
    // Where there is no root, or it cannot be written, waiting changes nothing.
    if (errno != EAGAIN) return;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

GcResult Store::gc(const GcOptions& options) noexcept {
  GcResult result;
  try {
    if (options_.root.empty()) {
      result.reason = "there is no cache folder";
      return result;
    }
    const auto root = state_->search.open({options_.root, RootKind::own});
    if (root) {
      result = state_->run_gc(*root, options);
    } else {
      result.reason = "there is no cache in " + options_.root + ", or it is not to be used";
    }
    state_->save_statistics(true);
  } catch (const std::exception& error) {
    result.reason = error.what();
  }
  return result;
}

void Store::remember_failure(const Key& key, std::string_view log) noexcept {
  if (options_.root.empty()) return;
  try {
    const Digest which = digest(key);
    if (const auto root = state_->open_writable())
      (void)remember(*root, failure_name(which), subject_of(which), log);
  } catch (...) {
    // Then it is compiled again.
  }
}

std::optional<Remembered> Store::failure(const Key& key) noexcept {
  if (options_.root.empty()) return std::nullopt;
  try {
    const auto root = state_->search.open({options_.root, RootKind::own});
    if (!root) return std::nullopt;
    const Digest which = digest(key);
    auto found = recall(*root, failure_name(which), subject_of(which));
    if (found) count(&Counters::remembered_failures, &which, found->log);
    return found;
  } catch (...) {
    return std::nullopt;
  }
}

void Store::remember_refusal(const Key& key,
                             std::string_view driver,
                             std::string_view log) noexcept {
  if (options_.root.empty()) return;
  try {
    const Digest which = digest(key);
    if (const auto root = state_->open_writable())
      (void)remember(*root, refusal_name(which, driver), subject_of(which, driver), log);
  } catch (...) {
    // Then it is tried again.
  }
}

std::optional<Remembered> Store::refusal(const Key& key, std::string_view driver) noexcept {
  if (options_.root.empty()) return std::nullopt;
  try {
    const auto root = state_->search.open({options_.root, RootKind::own});
    if (!root) return std::nullopt;
    const Digest which = digest(key);
    auto found = recall(*root, refusal_name(which, driver), subject_of(which, driver));
    if (found) count(&Counters::remembered_refusals, &which, found->log);
    return found;
  } catch (...) {
    return std::nullopt;
  }
}

std::vector<Statistic> Store::statistics(bool zero) {
  state_->save_finally();
  Sums sums{};
  if (!options_.root.empty()) {
    const auto opened = open_root(options_.root, RootKind::own);
    if (const auto* root = std::get_if<Root>(&opened))
      sums = zero ? take_statistics(*root) : read_statistics(*root);
  }
  std::vector<Statistic> lines;
  for (std::size_t i = 0; i < outcomes().size(); ++i)
    lines.push_back({outcomes()[i].name, outcomes()[i].sentence, sums[i]});
  return lines;
}

void Store::count(Counter counter, const Digest* digest, std::string_view detail) noexcept {
  state_->tally.count(counter, digest, detail);
  state_->save_statistics(false);
}

const Counters& Store::counters() const noexcept { return state_->tally.counters(); }

Store::~Store() { state_->save_finally(); }

}  // namespace kiln::cache
