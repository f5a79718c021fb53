// Checks of run-time tensors that every family makes, with one wording.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor_checks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln {
namespace {

// Whether the list has the name; then what follows it.
bool skip_to(std::string_view& known, std::string_view name) {
  std::string_view rest = known;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const bool found = rest.substr(0, comma) == name;
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 2);
    if (!found) continue;
    known = rest;
    return true;
  }
  return false;
}

bool listed(std::string_view known, std::string_view name) { return skip_to(known, name); }

bool has_elements(const Tensor& t) {
  for (int i = 0; i < t.rank; ++i) {
    if (t.shape[static_cast<std::size_t>(i)] == 0) return false;
  }
  return true;
}

// Bytes of one row, the distance between rows, and their number; a vector is one row.
struct Extent {
  std::uintptr_t begin = 0;
  std::uint64_t width = 0, pitch = 0, rows = 1;

  [[nodiscard]] std::uintptr_t end() const { return begin + (rows - 1) * pitch + width; }
};

Extent extent(const Tensor& t) {
  const auto size = static_cast<std::uint64_t>(size_bytes(t.type));
  Extent e{.begin = reinterpret_cast<std::uintptr_t>(t.data)};
  if (t.rank == 1) {
    e.width = static_cast<std::uint64_t>(t.shape[0]) * size;
  } else if (t.rank == 2) {
    e.rows = static_cast<std::uint64_t>(t.shape[0]);
    e.width = static_cast<std::uint64_t>(t.shape[1]) * size;
    e.pitch = static_cast<std::uint64_t>(t.strides[0]) * size;
  } else {  // a group is one block, gaps and all
    e.rows = static_cast<std::uint64_t>(t.shape[0]);
    e.width = static_cast<std::uint64_t>((t.shape[1] - 1) * t.strides[1] + t.shape[2]) * size;
    e.pitch = static_cast<std::uint64_t>(t.strides[0]) * size;
  }
  return e;
}

bool overlap(const Tensor& a, const Tensor& b) {
  if (!has_elements(a) || !has_elements(b)) return false;
  Extent first = extent(a), second = extent(b);
  if (second.begin < first.begin) std::swap(first, second);
  if (first.end() <= second.begin) return false;
  if (first.pitch != second.pitch || first.rows < 2 || second.rows < 2) return true;
  // One stride: rows interleave without touching when the second's columns fall into the gap behind
  // the first's.
  const std::uint64_t offset = (second.begin - first.begin) % first.pitch;
  return offset < first.width || offset + second.width > first.pitch;
}

}  // namespace

TensorChecks::TensorChecks(std::string_view op, const Arguments& arguments, std::string_view known)
    : op_(op), arguments_(arguments) {
  std::string_view following = known;  // mostly they come in the order of the list
  for (int i = 0; i < arguments.count; ++i) {
    const Tensor& t = arguments.tensors[static_cast<std::size_t>(i)];
    if (!skip_to(following, t.name) && !listed(known, t.name))
      fail(t, fmt::format("is not an argument; the arguments are {}", known));
    const auto size = static_cast<std::uintptr_t>(size_bytes(t.type));
    if (reinterpret_cast<std::uintptr_t>(t.data) % size != 0) {
      fail(t,
           fmt::format(
               "is at {}, which is no multiple of its element's {} bytes", fmt::ptr(t.data), size));
    }
  }
}

void TensorChecks::fail(const Tensor& tensor, std::string_view what) const {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {} {}", op_, tensor.name, what));
}

const Tensor* TensorChecks::named(std::string_view name) const {
  for (int i = 0; i < arguments_.count; ++i) {
    const Tensor& t = arguments_.tensors[static_cast<std::size_t>(i)];
    if (t.name == name) return &t;
  }
  return nullptr;
}

const Tensor* TensorChecks::required(std::string_view name) const {
  const Tensor* t = named(name);
  if (t == nullptr) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {} is missing", op_, name));
  }
  if (t->data == nullptr && !t->is_scalar() && has_elements(*t)) fail(*t, "is a null pointer");
  return t;
}

const Tensor* TensorChecks::absent(std::string_view name, std::string_view why) const {
  const Tensor* t = named(name);
  if (t != nullptr && t->data != nullptr) fail(*t, fmt::format("was given, but {}", why));
  return nullptr;
}

void TensorChecks::type(const Tensor& tensor, DType wanted) const {
  if (tensor.type != wanted) {
    fail(tensor,
         fmt::format(
             "has type {}, the signature says {}", to_string(tensor.type), to_string(wanted)));
  }
}

void TensorChecks::rank(const Tensor& tensor, int wanted) const {
  if (tensor.rank != wanted)
    fail(tensor, fmt::format("has rank {}, {} is needed", tensor.rank, wanted));
}

void TensorChecks::matrix(const Tensor& tensor,
                          DType wanted,
                          std::int64_t rows,
                          std::int64_t columns) const {
  rank(tensor, 2);
  type(tensor, wanted);
  if (tensor.shape[0] != rows || tensor.shape[1] != columns) {
    fail(tensor,
         fmt::format("has shape [{}, {}], [{}, {}] is needed",
                     tensor.shape[0],
                     tensor.shape[1],
                     rows,
                     columns));
  }
  if (tensor.strides[1] != 1 && columns > 1) {
    fail(tensor,
         fmt::format("has column stride {}; columns must be contiguous", tensor.strides[1]));
  }
  if (rows > 1 && tensor.strides[0] < columns) {
    fail(tensor,
         fmt::format("has row stride {}, less than its {} columns: rows would overlap",
                     tensor.strides[0],
                     columns));
  }
  const std::int64_t most = (std::int64_t{1} << 60) / std::max<std::int64_t>(1, rows);
  if (tensor.strides[0] > most)
    fail(tensor, fmt::format("has row stride {}, too large to address", tensor.strides[0]));
}

void TensorChecks::matrices(const Tensor& tensor,
                            DType wanted,
                            std::int64_t groups,
                            std::int64_t rows,
                            std::int64_t columns) const {
  rank(tensor, 3);
  type(tensor, wanted);
  const auto& shape = tensor.shape;
  const auto& strides = tensor.strides;
  if (shape[0] != groups || shape[1] != rows || shape[2] != columns) {
    fail(tensor,
         fmt::format("has shape [{}, {}, {}], [{}, {}, {}] is needed",
                     shape[0],
                     shape[1],
                     shape[2],
                     groups,
                     rows,
                     columns));
  }
  if (strides[2] != 1 && columns > 1)
    fail(tensor, fmt::format("has column stride {}; columns must be contiguous", strides[2]));
  if (rows > 1 && strides[1] < columns) {
    fail(tensor,
         fmt::format("has row stride {}, less than its {} columns: rows would overlap",
                     strides[1],
                     columns));
  }
  const std::int64_t most = std::int64_t{1} << 60;
  if (strides[1] > most / std::max<std::int64_t>(1, rows))
    fail(tensor, fmt::format("has row stride {}, too large to address", strides[1]));
  const std::int64_t span = (rows - 1) * strides[1] + columns;
  if (groups > 1 && strides[0] < span) {
    fail(tensor,
         fmt::format("has group stride {}, less than the {} elements of a group: groups would "
                     "overlap",
                     strides[0],
                     span));
  }
  if (strides[0] > most / std::max<std::int64_t>(1, groups))
    fail(tensor, fmt::format("has group stride {}, too large to address", strides[0]));
}

void TensorChecks::aligned(const Tensor& tensor, int bytes) const {
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % static_cast<std::uintptr_t>(bytes) != 0) {
    fail(tensor,
         fmt::format("is at {}, which is no multiple of {} bytes", fmt::ptr(tensor.data), bytes));
  }
  const std::int64_t elements = bytes / size_bytes(tensor.type);
  for (int i = 0; i + 1 < tensor.rank; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (tensor.shape[at] > 1 && tensor.strides[at] % elements != 0) {
      fail(tensor,
           fmt::format("has stride {} in dimension {}, which is no multiple of {} elements ({} "
                       "bytes)",
                       tensor.strides[at],
                       i,
                       elements,
                       bytes));
    }
  }
}

void TensorChecks::scalar(const Tensor& tensor) const {
  if (!tensor.is_scalar())
    fail(tensor, fmt::format("has rank {}; a number is needed", tensor.rank));
  type(tensor, DType::f32);
}

void TensorChecks::vector(const Tensor& tensor, DType wanted, std::int64_t size) const {
  rank(tensor, 1);
  type(tensor, wanted);
  if (tensor.shape[0] != size)
    fail(tensor, fmt::format("has {} elements, {} are needed", tensor.shape[0], size));
  if (tensor.strides[0] != 1 && size > 1) {
    fail(tensor, fmt::format("has stride {}; it must be contiguous", tensor.strides[0]));
  }
}

void TensorChecks::no_overlap(std::span<const Tensor* const> outputs,
                              std::span<const Tensor* const> inputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) continue;
    for (const Tensor* input : inputs) {
      if (input != nullptr && overlap(*outputs[i], *input)) {
        fail(*outputs[i],
             fmt::format("overlaps the input {}; outputs need memory of their own", input->name));
      }
    }
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      if (outputs[j] != nullptr && overlap(*outputs[i], *outputs[j])) {
        fail(*outputs[i], fmt::format("overlaps the output {}", outputs[j]->name));
      }
    }
  }
}

}  // namespace kiln
