// The descriptions that the build embeds: ops/*.json.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/description.hpp"
#include "src/core/closure.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr std::string_view kFolder = "kernels/mix_order_reduction/ops/";

std::map<std::string, Description, std::less<>> read_all() {
  std::map<std::string, Description, std::less<>> out;
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.name.starts_with(kFolder)) continue;
    Description description = parse_description(file.text, file.name);
    std::string op = description.op;
    out.emplace(std::move(op), std::move(description));
  }
  return out;
}

}  // namespace

const Description& builtin_description(std::string_view op) {
  static const std::map<std::string, Description, std::less<>> all = read_all();
  const auto found = all.find(op);
  if (found == all.end())
    throw Error(ErrorCode::internal, "no description of " + std::string(op) + " is built in");
  return found->second;
}

}  // namespace kiln::mix_order_reduction
