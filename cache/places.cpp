// The places of a store: what each layer is, and what its signature is worth.
// SPDX-License-Identifier: Apache-2.0
#include "cache/places.hpp"

#include <cerrno>
#include <utility>

#include <sys/stat.h>

#include "cache/patience.hpp"

namespace kiln::cache {
namespace {

constexpr std::chrono::seconds kAttemptAgain{10};
constexpr std::chrono::seconds kPatience{2};

bool is_missing(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 && errno == ENOENT;
}

Place layer_of(const std::string& text, const std::string& trusted_keys) {
  auto parsed = parse_layer(text);
  if (auto* problem = std::get_if<Problem>(&parsed))
    return {.path = text, .kind = RootKind::layer, .refusal = std::move(*problem)};
  const LayerSpec& spec = std::get<LayerSpec>(parsed);
  Place place{spec.path, RootKind::layer};
  if (spec.path.ends_with(".kpack")) {
    place.pack = std::make_shared<PackFile>(spec.path, SignatureCheck{spec.policy, trusted_keys});
    return place;
  }
  place.gate = std::make_shared<Gate>();
  // Entries in a folder carry no signatures; packs do.
  const std::string unsigned_text = "the cache layer " + spec.path +
                                    " is a folder, and the entries of a folder are not signed; "
                                    "pack it and sign the pack (kiln pack, kiln sign)";
  if (spec.policy == SignaturePolicy::require)
    place.refusal = Problem{"layer:unsigned", unsigned_text + ". It is not used"};
  if (spec.policy == SignaturePolicy::warn)
    place.reservation = Problem{"layer:unsigned", unsigned_text + ". It is used all the same"};
  return place;
}

}  // namespace

PackFile::PackFile(std::string path, SignatureCheck check)
    : path_(std::move(path)), check_(std::move(check)) {}

std::shared_ptr<const Pack> PackFile::open(std::optional<Problem>& problem) {
  const auto lock = lock_within(mutex_, kPatience);
  if (!lock) return open_now(problem);
  if (pack_) return pack_;
  const auto now = std::chrono::steady_clock::now();
  if (problem_ && now < attempt_again_) {
    problem = problem_;
    return nullptr;
  }
  problem_.reset();
  pack_ = open_now(problem);
  if (problem && !pack_) {
    attempt_again_ = now + kAttemptAgain;
    problem_ = problem;
  }
  return pack_;
}

std::shared_ptr<const Pack> PackFile::open_now(std::optional<Problem>& problem) const {
  if (is_missing(path_)) return nullptr;
  auto opened = Pack::open(path_, check_);
  if (auto* refused = std::get_if<Problem>(&opened)) {
    problem = std::move(*refused);
    return nullptr;
  }
  auto pack = std::make_shared<const Pack>(std::move(std::get<Pack>(opened)));
  if (!pack->warning().empty()) problem = Problem{"pack:signature", pack->warning()};
  return pack;
}

std::vector<Place> places_of(const std::string& root,
                             const std::vector<std::string>& layers,
                             const std::string& trusted_keys) {
  std::vector<Place> places;
  if (!root.empty())
    places.push_back({.path = root, .kind = RootKind::own, .gate = std::make_shared<Gate>()});
  for (const std::string& layer : layers) places.push_back(layer_of(layer, trusted_keys));
  return places;
}

}  // namespace kiln::cache
