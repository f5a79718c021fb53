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

}  // namespace

struct Store::State {
  State(const StoreOptions& options, Counters& counter_block)
      : root(options.root),
        lock_folder(options.lock_dir.empty() ? default_lock_folder() : options.lock_dir),
        counters(counter_block),
        search(options, counter_block) {}

  std::optional<Root> open_writable();
  Published publish_entry(const Key& key, const Entry& entry);
  EntryLock wait(Descriptor file, const Key& key, milliseconds budget, std::optional<Found>& found);

  std::string root;
  std::string lock_folder;
  Counters& counters;
  Search search;
  std::atomic<bool> swept{false};
};

std::optional<Root> Store::State::open_writable() {
  auto opened = open_root_for_writing(root);
  if (const auto* problem = std::get_if<Problem>(&opened)) {
    search.warnings().give(problem->cause + " " + root, problem->text);
    return std::nullopt;
  }
  return std::move(std::get<Root>(opened));
}

Published Store::State::publish_entry(const Key& key, const Entry& entry) {
  Published outcome;
  const auto encoded = encode_entry(entry);
  if (const auto* error = std::get_if<EntryError>(&encoded)) {
    outcome.problem = Problem{"put:encode:" + std::to_string(static_cast<int>(*error)),
                              "the kernel of " + entry.signature +
                                  " cannot be kept in the cache: " + std::string(sentence(*error))};
  } else if (const auto writable = open_writable()) {
    if (!swept.exchange(true)) sweep_temporaries(*writable);
    outcome =
        publish(*writable, entry_name(digest(key)), std::get<std::vector<std::byte>>(encoded));
  }
  return outcome;
}

EntryLock Store::State::wait(Descriptor file,
                             const Key& key,
                             milliseconds budget,
                             std::optional<Found>& found) {
  const std::int64_t offset = lock_offset(digest(key));
  const auto deadline = steady_clock::now() + budget;
  milliseconds pause = kFirstPause;
  for (bool first = true;; first = false) {
    const LockAttempt attempt = try_lock(file.get(), offset);
    if (attempt == LockAttempt::impossible) {
      const int error = errno;
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
      search.count_hit(*found);
      return {};
    }
    if (lock.held()) return lock;
    if (first) ++counters.lock_waits;
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left <= milliseconds{0}) {
      ++counters.lock_timeouts;
      return {};
    }
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min(2 * pause, kLongestPause);
  }
}

Store::Store(StoreOptions options) : options_(std::move(options)) {
  options_.root = absolute(options_.root);
  for (std::string& layer : options_.layers) layer = absolute(layer);
  state_ = std::make_unique<State>(options_, counters_);
}

Store::~Store() = default;

std::optional<Found> Store::find(const Key& key) {
  auto found = state_->search.look(key);
  if (found) {
    state_->search.count_hit(*found);
  } else {
    ++counters_.misses;
  }
  return found;
}

std::vector<Found> Store::find_any_toolchain(const Key& key) {
  std::vector<Found> all = state_->search.look_any(key);
  if (all.empty()) {
    ++counters_.misses;
  } else {
    state_->search.count_hit(all.front());
  }
  return all;
}

PutResult Store::put(const Key& key,
                     const Cubin& cubin,
                     std::string_view op,
                     std::string_view signature) noexcept {
  Published outcome;
  if (!options_.root.empty()) {
    Warnings& warnings = state_->search.warnings();
    try {
      outcome = state_->publish_entry(key, {key, cubin, std::string(op), std::string(signature)});
      if (outcome.problem) warnings.give(outcome.problem->cause, outcome.problem->text);
    } catch (const std::exception& error) {
      warnings.give("put:exception", error.what());
    }
  }
  switch (outcome.result) {
    case PutResult::stored:
      ++counters_.puts;
      break;
    case PutResult::already_there:
      ++counters_.already_there;
      break;
    case PutResult::not_kept:
      ++counters_.not_kept;
      break;
  }
  return outcome.result;
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
    result = read_entry(folder.get(), name.file, entry_path(*root, name), root->owner);
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
    state_->search.warnings().give(problem->cause, problem->text);
    return {};
  }
  return state_->wait(std::move(std::get<Descriptor>(file)), key, budget, found);
}

}  // namespace kiln::cache
