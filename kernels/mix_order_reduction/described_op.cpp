// Descriptions of a user's own ops.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/described_op.hpp>

#include <cstddef>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/registry.hpp"
#include "src/core/named_file.hpp"

namespace kiln {
namespace {

// Far more than a description may have, which says so itself.
constexpr std::size_t kMostBytes = 1 << 20;

}  // namespace

std::string register_op(std::string_view json, std::string_view where) {
  return mix_order_reduction::register_description(json, where);
}

std::string register_op_file(const std::string& path) {
  const NamedFile file = read_named_file(path, kMostBytes);
  if (!file.problem.empty())
    throw Error(ErrorCode::io_error, fmt::format("cannot read {}: {}", path, file.problem));
  return register_op(file.text, path);
}

}  // namespace kiln
