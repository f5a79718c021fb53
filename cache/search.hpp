// Looking for entries in the root and then in the layers, and dealing with what is bad there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/layout.hpp"
#include "cache/places.hpp"
#include "cache/reader.hpp"
#include "cache/recency.hpp"
#include "cache/store.hpp"
#include "cache/warnings.hpp"

namespace kiln::cache {

// The places of a store in the order they are asked, and where outcomes are counted and told.
class Search {
 public:
  Search(const StoreOptions& options, Tally& tally);

  // Nothing when there is none, or it is not to be used: then that has been told. Not for packs.
  [[nodiscard]] std::optional<Root> open(const Place& place);
  [[nodiscard]] std::shared_ptr<const Pack> open_pack(const Place& place);

  // The entry of exactly this key. Counts bad entries, but neither hits nor misses: waiters look
  // many times.
  [[nodiscard]] std::optional<Found> look(const Key& key);
  // Entries of this kernel by any toolchain, newest first.
  [[nodiscard]] std::vector<Found> look_any(const Key& key);

  void count_hit(const Found& found) noexcept;
  // Tells, counts, and moves aside what is bad. `file` is relative to `folder`. Layers are left as
  // they are.
  void met_bad(const Root& root,
               RootKind kind,
               int folder,
               const std::string& file,
               const ReadResult& result);
  void met_bad_in_pack(const Pack& pack, const Problem& problem);
  // Tells of a place that is not used.
  void refuse(const Place& place, const Problem& problem);

  [[nodiscard]] const std::vector<Place>& places() const noexcept { return places_; }
  [[nodiscard]] Warnings& warnings() noexcept { return warnings_; }

 private:
  struct Candidate {
    Toolchain toolchain;
    Found found;
  };
  // What a look needs of the key, computed once.
  struct Wanted {
    const Key& key;
    Digest digest;
    EntryName name;
  };
  // Where all is as it was at the last look, and right. False: the whole way has to be gone, and
  // what is wrong there told.
  bool look_again(const Place& place, const Wanted& wanted, std::optional<Found>& found);
  std::optional<Found> look_in(const Root& root, RootKind kind, const Wanted& wanted);
  void look_any_in(const Root& root,
                   RootKind kind,
                   const EntryName& wanted,
                   std::vector<Candidate>& all);
  std::optional<Found> look_in_pack(const Pack& pack, const Wanted& wanted);
  void look_any_in_pack(const Pack& pack, const Digest& digest, std::vector<Candidate>& all);

  std::vector<Place> places_;
  Tally& tally_;
  Warnings warnings_;
  Recency recency_;
  Decompressor decompressor_;
};

}  // namespace kiln::cache
