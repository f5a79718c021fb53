// Why a lookup hits or misses: each place, what was there, and what is nearest to what was asked
// for.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <utility>

#include "cache/describe.hpp"
#include "cache/difference.hpp"
#include "cache/scan.hpp"
#include "cache/store_state.hpp"

namespace kiln::cache {
namespace {

class Explainer {
 public:
  Explainer(const Key& key, std::size_t most) : key_(key), most_(most) {
    told_.digest = digest(key);
    name_ = entry_name(told_.digest);
    told_.file = "e/" + name_.folder + "/" + (any() ? kernel_prefix(name_) : name_.file);
  }

  void look(const Place& place) {
    if (place.refusal) {
      step(place.path, "refused", place.refusal->text);
    } else if (place.pack) {
      look_in_pack(place);
    } else {
      look_in_folder(place);
    }
  }

  Explanation told() && {
    std::ranges::stable_sort(told_.neighbours, {}, [](const Neighbour& neighbour) {
      return neighbour.differences.size();
    });
    if (told_.neighbours.size() > most_) told_.neighbours.resize(most_);
    return std::move(told_);
  }

 private:
  [[nodiscard]] bool any() const { return key_.toolchain.empty(); }

  void step(const std::string& place, const char* outcome, std::string detail) {
    told_.steps.push_back({place, outcome, std::move(detail)});
  }

  void look_in_folder(const Place& place) {
    const auto opened = open_root(place.path, place.kind);
    if (const auto* problem = std::get_if<Problem>(&opened)) {
      step(place.path, "refused", problem->text);
      return;
    }
    const auto* root = std::get_if<Root>(&opened);
    if (root == nullptr) {
      step(place.path, "absent", "there is no cache in this folder");
      return;
    }
    bool seen = false;
    visit_entries(*root, [&](const EntryName& name, ReadResult& result) {
      const std::string path = entry_path(root->path, name);
      const bool wanted =
          any() ? name.folder == name_.folder && name.file.starts_with(kernel_prefix(name_))
                : name == name_;
      if (wanted) {
        seen = true;
        const bool other = result.state == ReadState::found && !serves(result.entry->key);
        met(place.path, path, result, other);
      } else if (name.folder.empty() && name.file == name_.folder) {
        seen = true;
        step(place.path, "bad", path + ": " + result.reason);
      } else if (result.state == ReadState::found) {
        consider(*result.entry, result.file_bytes, path);
      }
    });
    if (!seen) step(place.path, "missing", "no file " + entry_path(root->path, name_));
  }

  void met(const std::string& place, const std::string& path, ReadResult& result, bool other) {
    if (other) {
      step(place, "bad", path + ": it is the entry of another key");
    } else if (result.state == ReadState::found) {
      told_.found = true;
      step(place, "hit", path + ", made by " + toolchain_of(result.entry->key).text());
    } else {
      step(place,
           result.state == ReadState::bad ? "bad" : "unreadable",
           path + ": " + result.reason);
    }
  }

  void look_in_pack(const Place& place) {
    std::optional<Problem> problem;
    const auto pack = place.pack->open(problem);
    if (!pack) {
      step(place.path,
           problem ? "refused" : "absent",
           problem ? problem->text : "there is no such file");
      return;
    }
    bool seen = false;
    for (const PackEntry& listed : pack->entries()) {
      auto loaded = pack->load(listed);
      const auto* entry = std::get_if<Entry>(&loaded);
      const std::string path = pack_entry_path(pack->path(), listed.digest);
      if (listed.digest.kernel == told_.digest.kernel && (any() || listed.digest == told_.digest)) {
        seen = true;
        told_.found = told_.found || entry != nullptr;
        step(place.path,
             entry != nullptr ? "hit" : "bad",
             entry != nullptr ? path : path + ": " + std::get<Problem>(loaded).text);
      } else if (entry != nullptr) {
        consider(*entry, static_cast<std::int64_t>(listed.bytes), path);
      }
    }
    if (!seen) step(place.path, "missing", "the pack has no entry of this digest");
  }

  [[nodiscard]] bool serves(const Key& other) const {
    return other.fields == key_.fields && (any() || other.toolchain == key_.toolchain);
  }

  // Nearest first, and no more of them in memory than twice what is told.
  void consider(const Entry& entry, std::int64_t file_bytes, const std::string& path) {
    for (const char* label : {"family", "arch"}) {
      if (field_of(entry.key, label) != field_of(key_, label)) return;
    }
    if (most_ == 0) return;
    Neighbour neighbour{describe(entry, file_bytes), path, differences(key_, entry.key)};
    auto& all = told_.neighbours;
    all.push_back(std::move(neighbour));
    if (all.size() < 2 * most_) return;
    std::ranges::stable_sort(all, {}, [](const Neighbour& one) { return one.differences.size(); });
    all.resize(most_);
  }

  const Key& key_;
  const std::size_t most_;
  EntryName name_;
  Explanation told_;
};

}  // namespace

Explanation Store::explain(const Key& key, std::size_t neighbours) {
  Explainer explainer(key, neighbours);
  for (const Place& place : state_->search.places()) explainer.look(place);
  return std::move(explainer).told();
}

}  // namespace kiln::cache
