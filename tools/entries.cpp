// Resolving what a person names to an entry or a key.
// SPDX-License-Identifier: Apache-2.0
#include "tools/entries.hpp"

#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>
#include <kiln/service.hpp>

#include "cache/pack.hpp"
#include "src/core/named_file.hpp"
#include "tools/keys.hpp"
#include "tools/session.hpp"

namespace kiln::cli {
namespace {

[[noreturn]] void unreadable(const std::string& path, std::string_view why) {
  throw Error(ErrorCode::io_error, fmt::format("{} is no entry: {}", path, why));
}

cache::Entry entry_in_pack(const std::string& path, std::size_t mark) {
  auto opened = cache::Pack::open(path.substr(0, mark));
  if (const auto* problem = std::get_if<cache::Problem>(&opened)) unreadable(path, problem->text);
  const auto& pack = std::get<cache::Pack>(opened);
  for (const cache::PackEntry& each : pack.entries()) {
    if (cache::pack_entry_path(pack.path(), each.digest).substr(pack.path().size()) !=
        path.substr(mark)) {
      continue;
    }
    auto loaded = pack.load(each);
    if (const auto* problem = std::get_if<cache::Problem>(&loaded)) unreadable(path, problem->text);
    return std::get<cache::Entry>(std::move(loaded));
  }
  unreadable(path, "the pack does not hold it");
}

}  // namespace

cache::Entry read_entry_at(const std::string& path) {
  const std::size_t mark = path.rfind(".kpack#");
  if (mark != std::string::npos) return entry_in_pack(path, mark + 6);
  const NamedFile file = read_regular_file(path, cache::kMaxEntryBytes);
  if (!file.problem.empty()) unreadable(path, file.problem);
  auto decoded = cache::decode_entry(std::as_bytes(std::span(file.text)));
  if (const auto* bad = std::get_if<cache::EntryError>(&decoded))
    unreadable(path, cache::sentence(*bad));
  return std::get<cache::Entry>(std::move(decoded));
}

cache::Found entry_with_digest(cache::Store& store, std::string_view beginning) {
  std::vector<cache::Found> matching;
  for (cache::Found& each : store.list()) {
    const std::string name = each.info.digest.kernel_hex() + "." + each.info.digest.toolchain_hex();
    if (beginning.size() >= 4 && name.starts_with(beginning)) matching.push_back(std::move(each));
  }
  if (matching.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("\"{}\" is no signature, no file and the beginning (4 digits or more) of "
                    "no digest in the cache; `kiln list` shows what is there",
                    beginning));
  }
  // The folder comes before layers that hold the same.
  for (const cache::Found& each : matching) {
    if (each.info.digest == matching.front().info.digest) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("several entries begin with {}, such as {}.{} and {}.{}; give more",
                            beginning,
                            matching.front().info.digest.kernel_hex(),
                            matching.front().info.digest.toolchain_hex(),
                            each.info.digest.kernel_hex(),
                            each.info.digest.toolchain_hex()));
  }
  return std::move(matching.front());
}

Key key_named(const std::string& what, const std::string& arch) {
  const Policy policy = Policy::from_env();
  if (what.find(':') != std::string::npos && what.find('/') == std::string::npos) {
    Service service(service_options());
    const std::vector<std::string> names =
        arch.empty() ? std::vector<std::string>{} : std::vector<std::string>{arch};
    const Plan plan = service.plan(Signature::parse(what), resolve_archs(names, service).front());
    std::vector<Key> keys = keys_of(plan, current_toolchain(policy));
    if (!keys.empty()) return std::move(keys.front());
    throw Error(
        ErrorCode::unavailable,
        fmt::format("{} takes the composed route on {}, which has no entry in the cache: {}",
                    plan.signature.text(),
                    plan.arch.text(),
                    plan.fallback ? plan.fallback->detail : ""));
  }
  std::error_code error;
  if (what.find(".kpack#") != std::string::npos || std::filesystem::exists(what, error))
    return read_entry_at(what).key;
  cache::Store store(store_options(policy));
  return read_entry_at(entry_with_digest(store, what).path).key;
}

}  // namespace kiln::cli
