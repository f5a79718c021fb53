// The cubin store: finding, publishing and locking entries of one root and its read-only layers.
// SPDX-License-Identifier: Apache-2.0
#include "cache/store.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "cache/entry.hpp"
#include "cache/layout.hpp"
#include "cache/lock.hpp"
#include "cache/publish.hpp"
#include "cache/reader.hpp"
#include "cache/scan.hpp"
#include "cache/search.hpp"
#include "cache/store_state.hpp"

namespace kiln::cache {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A waiter looks this often: soon at first, since small kernels compile in tens of milliseconds.
constexpr milliseconds kFirstPause{1};
constexpr milliseconds kLongestPause{25};

// A working folder that changes later must not move the cache.
std::string absolute(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  return error ? path : whole.string();
}

bool is_full(int error) noexcept { return error == ENOSPC || error == EDQUOT; }

}  // namespace

Store::State::State(const StoreOptions& store_options)
    : options(store_options),
      lock_folder(options.lock_dir.empty() ? default_lock_folder() : options.lock_dir),
      tally(options.telemetry),
      search(options, tally) {}

std::optional<Root> Store::State::open_writable() {
  auto opened = open_root_for_writing(options.root);
  if (const auto* problem = std::get_if<Problem>(&opened)) {
    search.warnings().give(problem->cause + " " + options.root, problem->text);
    return std::nullopt;
  }
  return std::move(std::get<Root>(opened));
}

Published Store::State::publish_entry(const Entry& entry, std::string_view signature) {
  Published outcome;
  const auto encoded = encode_entry(entry);
  if (const auto* error = std::get_if<EntryError>(&encoded)) {
    outcome.problem = Problem{"put:encode:" + std::to_string(static_cast<int>(*error)),
                              "the kernel of " + std::string(signature) +
                                  " cannot be kept in the cache: " + std::string(sentence(*error))};
    return outcome;
  }
  const auto writable = open_writable();
  if (!writable) return outcome;
  const auto& bytes = std::get<std::vector<std::byte>>(encoded);
  const auto file_bytes = static_cast<std::int64_t>(bytes.size());
  const EntryName name = entry_name(digest(entry.key));
  if (!swept.exchange(true)) sweep_temporaries(*writable);
  outcome = publish(*writable, name, bytes);
  if (is_full(outcome.error)) {
    shed(*writable, file_bytes);
    outcome = publish(*writable, name, bytes);
    if (is_full(outcome.error)) pause_writes();
  }
  if (outcome.result == PutResult::stored) after_put(*writable, name, file_bytes);
  return outcome;
}

EntryLock Store::State::wait(Descriptor file,
                             const Key& key,
                             milliseconds budget,
                             std::optional<Found>& found) {
  const auto deadline = steady_clock::now() + budget;
  milliseconds pause = kFirstPause;
  const Digest which = digest(key);
  const std::int64_t offset = lock_offset(which);
  for (bool first = true;; first = false) {
    const LockAttempt attempt = try_lock(file.get(), offset);
    if (attempt == LockAttempt::impossible) {
      const int error = errno;
      tally.count(&Counters::unlocked);
      search.warnings().give(
          "lock:impossible:" + std::to_string(error),
          "cannot lock in " + lock_folder + ": " + errno_text(error) +
              "; processes that start together may compile the same kernel more than once");
      return {};
    }
    EntryLock lock;
    if (attempt == LockAttempt::acquired) lock.fd_ = file.release();
    // The holder may have published since the caller looked.
    found = search.look(key);
    if (found) {
      if (!first) tally.count(&Counters::wait_hits, &which);
      search.count_hit(*found);
      return {};
    }
    if (lock.held()) {
      if (!first) tally.count(&Counters::takeovers, &which);
      return lock;
    }
    if (first) tally.count(&Counters::lock_waits, &which);
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left <= milliseconds{0}) {
      tally.count(&Counters::lock_timeouts, &which);
      return {};
    }
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min(2 * pause, kLongestPause);
  }
}

Store::Store(StoreOptions options) : options_(std::move(options)) {
  options_.root = absolute(options_.root);
  for (std::string& layer : options_.layers) layer = absolute(layer);
  state_ = std::make_unique<State>(options_);
}

std::optional<Found> Store::find(const Key& key) {
  auto found = state_->search.look(key);
  if (found) {
    state_->search.count_hit(*found);
  } else {
    state_->count_miss(key);
  }
  state_->save_statistics(false);
  return found;
}

std::vector<Found> Store::find_any_toolchain(const Key& key) {
  std::vector<Found> all = state_->search.look_any(key);
  if (all.empty()) {
    state_->count_miss(key);
  } else {
    state_->search.count_hit(all.front());
  }
  state_->save_statistics(false);
  return all;
}

void Store::State::count_miss(const Key& key) noexcept {
  if (!options.telemetry) {
    tally.count(&Counters::misses);
    return;
  }
  const Digest which = digest(key);
  tally.count(&Counters::misses, &which);
}

PutResult Store::put(const Key& key,
                     const Cubin& cubin,
                     std::string_view op,
                     std::string_view signature) noexcept {
  Published outcome;
  if (!options_.root.empty() && state_->writes_paused()) {
    state_->tally.count(&Counters::writes_paused);
  } else if (!options_.root.empty()) {
    Warnings& warnings = state_->search.warnings();
    try {
      outcome = state_->publish_entry({key, cubin, std::string(op)}, signature);
      if (outcome.problem) warnings.give(outcome.problem->cause, outcome.problem->text);
    } catch (const std::exception& error) {
      warnings.give("put:exception", error.what());
    }
  }
  state_->count_put(key, outcome);
  state_->save_statistics(false);
  return outcome.result;
}

void Store::State::count_put(const Key& key, const Published& outcome) noexcept {
  const Counter counter = outcome.result == PutResult::stored          ? &Counters::puts
                          : outcome.result == PutResult::already_there ? &Counters::already_there
                                                                       : &Counters::not_kept;
  if (!options.telemetry) {
    tally.count(counter);
    return;
  }
  const Digest which = digest(key);
  tally.count(counter, &which, outcome.problem ? std::string_view(outcome.problem->text) : "");
}

void Store::quarantine(const Key& key, std::string_view reason) noexcept {
  if (options_.root.empty()) return;
  try {
    const auto root = state_->search.open({options_.root, RootKind::own});
    if (!root) return;
    const EntryName name = entry_name(digest(key));
    ReadResult result;
    const Descriptor folder = open_entry_folder(*root, name.folder, result);
    if (!folder) return;
    Decompressor decompressor;
    result = read_entry(
        folder.get(), name.file, entry_path(root->path, name), root->owner, decompressor);
    if (result.state == ReadState::missing) return;
    result.state = ReadState::bad;
    result.cause = "bad:refused";
    result.reason = reason;
    state_->search.met_bad(*root, RootKind::own, folder.get(), name.file, result);
  } catch (const std::exception& error) {
    state_->search.warnings().give("quarantine:exception", error.what());
  }
}

EntryLock Store::lock(const Key& key, milliseconds budget, std::optional<Found>& found) {
  found.reset();
  if (options_.root.empty()) return {};
  // Where nothing can be published, waiting for another process's compile gains nothing.
  const auto writable = state_->open_writable();
  if (!writable || ::faccessat(writable->entries.get(), ".", W_OK, AT_EACCESS) != 0) return {};
  auto file = open_lock_file(state_->lock_folder);
  if (const auto* problem = std::get_if<Problem>(&file)) {
    state_->tally.count(&Counters::unlocked, nullptr, problem->text);
    state_->search.warnings().give(problem->cause, problem->text);
    return {};
  }
  return state_->wait(std::move(std::get<Descriptor>(file)), key, budget, found);
}

}  // namespace kiln::cache
