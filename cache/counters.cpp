// The table of outcomes.
// SPDX-License-Identifier: Apache-2.0
#include "cache/counters.hpp"

#include <algorithm>
#include <string>

namespace kiln::cache {
namespace {

constexpr std::array<Outcome, 27> kOutcomes = {{
    {"hit", "found in the cache folder", &Counters::hits},
    {"layer_hit", "found in a read-only folder or pack", &Counters::layer_hits},
    {"miss", "found nowhere", &Counters::misses},
    {"stored", "put into the cache folder", &Counters::puts},
    {"already_there", "another process had put it first", &Counters::already_there},
    {"not_kept", "could not be put; the kernel ran all the same", &Counters::not_kept},
    {"quarantined", "a bad entry was moved to v1/bad", &Counters::quarantined},
    {"lock_wait", "another process was compiling it", &Counters::lock_waits},
    {"lock_timeout", "the other process took longer than the wait", &Counters::lock_timeouts},
    {"bad", "an entry was damaged or not to be trusted", &Counters::bad},
    {"pack_hit", "of the layer hits, found in a pack", &Counters::pack_hits},
    {"wait_hit", "of the hits, served while waiting for another process", &Counters::wait_hits},
    {"takeover", "waited, and got the lock without an entry", &Counters::takeovers},
    {"unlocked", "compiled without a lock, which was impossible", &Counters::unlocked},
    {"unreadable", "the system refused to read an entry", &Counters::unreadable},
    {"refused_place", "a folder or pack was not to be used", &Counters::refused_places},
    {"disk_full", "no space or inodes were left", &Counters::disk_full},
    {"write_paused", "not put, since the disk was full just before", &Counters::writes_paused},
    {"gc", "old entries were looked for", &Counters::gc_runs},
    {"evicted", "an old entry was removed", &Counters::evicted},
    {"evicted_bytes", "bytes of the entries removed", &Counters::evicted_bytes},
    {"compile", "compiled", &Counters::compiles},
    {"compile_failure", "the compiler refused the source", &Counters::compile_failures},
    {"remembered_failure",
     "not compiled, since the compiler refused it minutes before",
     &Counters::remembered_failures},
    {"load_refusal", "the driver refused a cubin", &Counters::load_refusals},
    {"remembered_refusal",
     "not compiled, since the driver refused it minutes before",
     &Counters::remembered_refusals},
    {"fallback", "composed kernels ran instead", &Counters::fallbacks},
}};

}  // namespace

std::span<const Outcome> outcomes() noexcept { return kOutcomes; }

void Tally::count(Counter counter,
                  const Digest* digest,
                  std::string_view detail,
                  std::uint64_t by) noexcept {
  if (by == 0) return;
  counters_.*counter += by;
  if (!telemetry_) return;
  try {
    const auto* outcome = std::ranges::find(kOutcomes, counter, &Outcome::counter);
    const std::string hex = digest != nullptr ? digest->kernel_hex() : std::string();
    telemetry_(outcome->name, hex, detail);
  } catch (...) {
    // A callback that fails must not cost the kernel.
  }
}

}  // namespace kiln::cache
