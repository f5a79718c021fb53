// The cubin store: a folder of self-contained verified entries, layers, and per-digest locks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/policy.hpp>

#include "src/core/cubin.hpp"
#include "src/core/digest.hpp"

namespace kiln::cache {

using Log = std::function<void(LogLevel, std::string_view)>;

struct StoreOptions {
  std::string root;                 // empty: nothing is kept on disk
  std::vector<std::string> layers;  // read-only roots, asked in order after `root`
  Log log;                          // warnings are given once a cause
  // Folder of the lock file, on storage of this node ($XDG_RUNTIME_DIR/kiln); made when missing,
  // must be the caller's own. Empty: /dev/shm/kiln-<euid>.
  std::string lock_dir = {};
};

// What an entry says about itself; a function of key and cubin alone.
struct EntryInfo {
  Digest digest;
  std::string family;
  std::string op;
  std::string signature;  // the one it was first compiled for
  std::string arch;
  std::string toolchain;  // Toolchain::text()
  std::string entry;
  int registers = 0;
  std::int64_t spill_bytes = 0;
  std::int64_t cubin_bytes = 0;
  std::int64_t file_bytes = 0;
};

struct Found {
  Cubin cubin;
  EntryInfo info;
  bool from_layer = false;
  std::string path;
};

enum class PutResult { stored, already_there, not_kept };

// Every outcome counted; the numbers in `kiln list --json` and the tests.
struct Counters {
  std::atomic<std::uint64_t> hits{0}, layer_hits{0}, misses{0}, puts{0}, already_there{0},
      not_kept{0}, quarantined{0}, lock_waits{0}, lock_timeouts{0};
  // Bad entries met, wherever they were; `quarantined` counts those that could be moved aside.
  std::atomic<std::uint64_t> bad{0};
};

struct VerifyProblem {
  std::string path;
  std::string reason;
};

// Held while one digest is being compiled by this process. Released by the kernel when the process
// dies.
class EntryLock {
 public:
  EntryLock() = default;
  EntryLock(EntryLock&&) noexcept;
  EntryLock& operator=(EntryLock&&) noexcept;
  ~EntryLock();
  // False: the wait ran out or locking is impossible here; compile anyway (locks only save work).
  [[nodiscard]] bool held() const noexcept { return fd_ >= 0; }

 private:
  friend class Store;
  int fd_ = -1;
};

class Store {
 public:
  // Opens nothing and creates nothing until the first find or put.
  explicit Store(StoreOptions options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // The entry of exactly this kernel and toolchain, verified, whole key compared. A bad entry is
  // quarantined, counted and a miss. Never throws for anything found on disk.
  [[nodiscard]] std::optional<Found> find(const Key& key);
  // Every entry of this kernel made by any toolchain, newest toolchain first: what a host without
  // NVRTC may use.
  [[nodiscard]] std::vector<Found> find_any_toolchain(const Key& key);

  // Publishes; never throws: what cannot be kept is one reasoned warning and a counter.
  PutResult put(const Key& key,
                const Cubin& cubin,
                std::string_view op,
                std::string_view signature) noexcept;

  // Moves the entry (of the read-write root) to quarantine, for a caller whom the driver refused
  // it.
  void quarantine(const Key& key, std::string_view reason) noexcept;

  // Waits at most `budget` for this digest's lock; returns early when an entry appears (`found` set
  // then).
  [[nodiscard]] EntryLock lock(const Key& key,
                               std::chrono::milliseconds budget,
                               std::optional<Found>& found);

  // Entries of the root and the layers, sorted by digest. Unreadable ones are left out (verify
  // reports them), and so are the images: a list of a large cache must not hold all of its code in
  // memory.
  [[nodiscard]] std::vector<Found> list();
  // Reads every entry; `checked` counts them. Repairs nothing.
  [[nodiscard]] std::vector<VerifyProblem> verify(std::int64_t& checked);

  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  [[nodiscard]] const std::string& root() const noexcept { return options_.root; }

 private:
  struct State;
  StoreOptions options_;
  Counters counters_;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::cache
