// The cubin store: a folder of self-contained verified entries, layers, and per-digest locks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/policy.hpp>

#include "cache/counters.hpp"
#include "src/core/cubin.hpp"
#include "src/core/digest.hpp"

namespace kiln::cache {

using Log = std::function<void(LogLevel, std::string_view)>;

struct StoreOptions {
  std::string root;  // empty: nothing is kept on disk
  // Read-only roots and packs (files that end in .kpack), asked in order after `root`; each "path"
  // or "path?sign=off|warn|require".
  std::vector<std::string> layers;
  Log log;  // warnings are given once a cause
  // Folder of the lock file, on storage of this node ($XDG_RUNTIME_DIR/kiln); made when missing,
  // must be the caller's own. Empty: /dev/shm/kiln-<euid>.
  std::string lock_dir = {};
  std::int64_t max_bytes = std::int64_t{2} << 30U;             // of the root's entries; 0: no bound
  std::chrono::seconds max_age = std::chrono::hours(24 * 90);  // since the last use; 0: no bound
  std::string trusted_keys = {};  // a folder of public keys: whose signatures count
  Telemetry telemetry = {};
};

// What an entry says about itself; a function of key and cubin alone.
struct EntryInfo {
  Digest digest;
  std::string family;
  std::string op;
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
  bool from_layer = false;  // a read-only folder or a pack
  bool from_pack = false;
  std::string path;
};

enum class PutResult { stored, already_there, not_kept };

// One line of the statistics.
struct Statistic {
  std::string_view name;
  std::string_view sentence;
  std::uint64_t count = 0;
};

struct GcOptions {
  std::optional<std::int64_t> max_bytes = {};        // absent: the store's
  std::optional<std::chrono::seconds> max_age = {};  // likewise
  std::int64_t shed_bytes = 0;                       // remove at least so much
  bool dry_run = false;                              // count what would go
};

struct GcResult {
  bool ran = false;
  std::string reason;        // why it did not run
  std::int64_t entries = 0;  // before
  std::int64_t bytes = 0;    // before, in blocks of 4 KiB
  std::int64_t removed = 0;
  std::int64_t removed_bytes = 0;
  std::int64_t young = 0;  // used within ten minutes, which never go
};

// What a store remembers of a compile or a load that failed.
struct Remembered {
  std::string log;
  std::chrono::seconds left{0};  // until it is tried again
};

// One place that was asked for a key, and what was there.
struct LookupStep {
  std::string place;    // a folder or a pack
  std::string outcome;  // "hit", "missing", "bad", "unreadable", "refused", "absent"
  std::string detail;   // the file that was looked for, and why it does not serve
};

// An entry of the same family, op and architecture that is not the one asked for.
struct Neighbour {
  EntryInfo info;
  std::string path;
  std::vector<std::string> differences;  // "header rms.cuh: another content", a line each
};

struct Explanation {
  Digest digest;
  std::string file;  // "e/<2 hex>/<62 hex>.<16 hex>.k"; without a toolchain, what it begins with
  bool found = false;
  std::vector<LookupStep> steps;
  std::vector<Neighbour> neighbours;  // fewest differences first
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

  // Removes what is too old or too much, oldest use first, and what dead processes left. Nothing
  // used within ten minutes goes. Never throws; one process at a time.
  GcResult gc(const GcOptions& options = {}) noexcept;

  // Failures, remembered for ten minutes in the root: compiles by digest, loads by digest and
  // driver. Never remember what may pass: memory, time-outs, a full disk, a crash.
  void remember_failure(const Key& key, std::string_view log) noexcept;
  [[nodiscard]] std::optional<Remembered> failure(const Key& key) noexcept;
  void remember_refusal(const Key& key, std::string_view driver, std::string_view log) noexcept;
  [[nodiscard]] std::optional<Remembered> refusal(const Key& key, std::string_view driver) noexcept;

  // What find(key), or find_any_toolchain(key) for a key without one, does, told instead of
  // counted; repairs nothing. At most `neighbours` of them.
  [[nodiscard]] Explanation explain(const Key& key, std::size_t neighbours = 8);

  // Outcomes of every process that used the root, this one's included; in the order of outcomes().
  // `zero` starts anew, losing nothing that is counted meanwhile.
  [[nodiscard]] std::vector<Statistic> statistics(bool zero = false);
  // For outcomes that only the caller sees: compiles, load refusals.
  void count(Counter counter, const Digest* digest, std::string_view detail = {}) noexcept;

  [[nodiscard]] const Counters& counters() const noexcept;
  [[nodiscard]] const std::string& root() const noexcept { return options_.root; }

 private:
  struct State;
  StoreOptions options_;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::cache
