// Descriptions of a user's own ops.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/described_op.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/registry.hpp"

namespace kiln {

std::string register_op(std::string_view json, std::string_view where) {
  return mix_order_reduction::register_description(json, where);
}

std::string register_op_file(const std::string& path) {
  std::ostringstream text;
  std::ifstream file(path, std::ios::binary);
  // The stream of a folder opens, and fails when it is read.
  if (!file || !(text << file.rdbuf())) {
    throw Error(ErrorCode::io_error,
                fmt::format("cannot read {}: {}", path, std::strerror(errno != 0 ? errno : EIO)));
  }
  return register_op(text.str(), path);
}

}  // namespace kiln
