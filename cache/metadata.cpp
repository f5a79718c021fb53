// What an entry says about its cubin, as bounded JSON: a function of key and cubin alone.
// SPDX-License-Identifier: Apache-2.0
#include "cache/metadata.hpp"

#include <limits>

#include <nlohmann/json.hpp>

namespace kiln::cache {
namespace {

bool read(const nlohmann::json& object, const char* name, std::string& value) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return false;
  value = found->get<std::string>();
  return true;
}

bool read(const nlohmann::json& object, const char* name, std::int64_t& value) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return false;
  const auto number = found->get<std::uint64_t>();
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return false;
  value = static_cast<std::int64_t>(number);
  return true;
}

}  // namespace

std::string to_json(const Metadata& metadata) {
  const nlohmann::json object = {
      {"op", metadata.op},
      {"entry", metadata.entry},
      {"registers", metadata.registers},
      {"spill_bytes", metadata.spill_bytes},
      {"stack_bytes", metadata.stack_bytes},
      {"static_smem_bytes", metadata.static_smem_bytes},
  };
  // Members come out sorted by name; a caller's text that is not UTF-8 must not make this throw.
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<Metadata> metadata_from_json(std::string_view json) {
  if (json.size() > kMaxMetadataBytes) return std::nullopt;
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Metadata metadata;
  std::int64_t registers = 0;
  const bool complete = read(object, "op", metadata.op) && read(object, "entry", metadata.entry) &&
                        read(object, "registers", registers) &&
                        read(object, "spill_bytes", metadata.spill_bytes) &&
                        read(object, "stack_bytes", metadata.stack_bytes) &&
                        read(object, "static_smem_bytes", metadata.static_smem_bytes);
  if (!complete || registers > std::numeric_limits<int>::max()) return std::nullopt;
  metadata.registers = static_cast<int>(registers);
  return metadata;
}

}  // namespace kiln::cache
