// The manifest of a pack as bounded JSON.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nlohmann/json.hpp>

#include "cache/pack_format.hpp"

namespace kiln::cache {
namespace {

using Json = nlohmann::json;

// A list in the manifest's object is at depth 2; what is deeper belongs to later versions.
constexpr int kMaxDepth = 3;

bool read(const Json& object, const char* name, std::vector<std::string>& list) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return false;
  list.reserve(found->size());
  for (const Json& item : *found) {
    if (!item.is_string()) return false;
    list.push_back(item.get<std::string>());
  }
  // One spelling: sorted, and nothing twice.
  return std::ranges::adjacent_find(list, std::ranges::greater_equal{}) == list.end();
}

}  // namespace

std::string manifest_to_json(const PackManifest& manifest) {
  const Json object = {
      {"architectures", manifest.architectures},
      {"complete", manifest.complete},
      {"recipe", manifest.recipe},
      {"signatures", manifest.signatures},
      {"toolchains", manifest.toolchains},
  };
  // Members come out sorted by name; a caller's text that is not UTF-8 must not make this throw.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<PackManifest> manifest_from_json(std::string_view json) {
  if (json.size() > kMaxManifestBytes) return std::nullopt;
  // Deep nesting is dropped as it is read: it would cost a hundred times its text.
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) {
    return depth < kMaxDepth;
  };
  const Json object = Json::parse(json, shallow, false);
  if (!object.is_object()) return std::nullopt;
  PackManifest manifest;
  const auto recipe = object.find("recipe");
  const auto complete = object.find("complete");
  if (recipe == object.end() || !recipe->is_string()) return std::nullopt;
  if (complete == object.end() || !complete->is_boolean()) return std::nullopt;
  manifest.recipe = recipe->get<std::string>();
  manifest.complete = complete->get<bool>();
  if (!read(object, "architectures", manifest.architectures) ||
      !read(object, "signatures", manifest.signatures) ||
      !read(object, "toolchains", manifest.toolchains)) {
    return std::nullopt;
  }
  return manifest;
}

}  // namespace kiln::cache
