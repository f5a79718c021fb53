// Laying tensors out with guard bands and gaps, and finding what a kernel should not have touched.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/image.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/verify/element.hpp"
#include "tools/verify/parallel.hpp"

namespace kiln::verify {
namespace {

constexpr std::byte kPoison{0xFF};

// Differs from its neighbours and from every constant fill; never 0xFF, which is poison.
std::byte pattern(std::int64_t offset) noexcept {
  return static_cast<std::byte>((offset * 151 + 17) % 251);
}

// Calls visit(begin, end) for each run of bytes that holds no element.
template <class Visit>
void for_each_gap(const Layout& layout, Visit visit) {
  const std::int64_t size = size_bytes(layout.type);
  if (layout.elements() == 0) return visit(std::int64_t{0}, layout.total_bytes);
  visit(std::int64_t{0}, layout.base_bytes);
  const std::int64_t row_bytes = layout.columns * size;
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    const std::int64_t end = layout.base_bytes + row * layout.row_stride * size + row_bytes;
    const std::int64_t next = row + 1 < layout.rows
                                  ? end + (layout.row_stride - layout.columns) * size
                                  : layout.total_bytes;
    visit(end, next);
  }
}

std::string where(const Layout& layout, std::int64_t offset) {
  const std::int64_t size = size_bytes(layout.type);
  if (offset < layout.base_bytes) {
    return fmt::format(
        "{} bytes before the first element of {}", layout.base_bytes - offset, layout.name);
  }
  const std::int64_t element = (offset - layout.base_bytes) / size;
  const std::int64_t row = layout.row_stride == 0 ? 0 : element / layout.row_stride;
  if (layout.elements() == 0 || row >= layout.rows ||
      (row + 1 == layout.rows && element % layout.row_stride >= layout.columns)) {
    const std::int64_t last =
        layout.elements() == 0 ? layout.base_bytes : layout.offset(layout.elements() - 1) + size;
    return fmt::format("{} bytes after the last element of {}", offset - last, layout.name);
  }
  const std::int64_t column = element % layout.row_stride;
  if (column >= layout.columns)
    return fmt::format("in the gap after row {} of {}", row, layout.name);
  return fmt::format("at row {}, column {} of {}", row, column, layout.name);
}

}  // namespace

std::int64_t Layout::offset(std::int64_t element) const noexcept {
  return base_bytes + (element / columns * row_stride + element % columns) * size_bytes(type);
}

Tensor Layout::tensor(std::uint64_t allocation) const {
  // A device address is an integer to the host: nothing here dereferences it.
  auto* data =
      reinterpret_cast<void*>(allocation + static_cast<std::uint64_t>(base_bytes));  // NOLINT
  if (rank == 1) return vector(name, data, type, columns);
  if (rank == 3) {
    const std::int64_t each = rows / groups;
    return {name, data, type, 3, {groups, each, columns, 0}, {each * row_stride, row_stride, 1, 0}};
  }
  return matrix(name, data, type, rows, columns, row_stride);
}

Layout make_layout(const TensorSpec& spec, const LayoutOptions& options) {
  if (spec.shape.size() > 3) {
    throw Error(
        ErrorCode::internal,
        fmt::format("tensor {} has rank {}; 0 to 3 are laid out", spec.name, spec.shape.size()));
  }
  const std::int64_t size = size_bytes(spec.type);
  const std::int64_t grain = std::max<std::int64_t>(1, spec.alignment / size);
  const auto allowed = [grain](std::int64_t elements) { return elements / grain * grain; };
  Layout layout;
  layout.name = spec.name;
  layout.type = spec.type;
  layout.role = spec.role;
  layout.rank = static_cast<int>(spec.shape.size());
  layout.groups = layout.rank == 3 ? spec.shape[0] : 1;
  layout.rows = layout.rank <= 1 ? 1 : layout.groups * spec.shape[spec.shape.size() - 2];
  layout.columns = layout.rank == 0 ? 1 : spec.shape.back();
  layout.row_stride = layout.columns + (layout.rank <= 1 ? 0 : allowed(options.extra_stride));
  layout.base_bytes = kGuardBytes + allowed(options.misalign) * size;
  const std::int64_t span =
      layout.elements() == 0 ? 0 : (layout.rows - 1) * layout.row_stride + layout.columns;
  layout.total_bytes = layout.base_bytes + span * size + kGuardBytes;
  return layout;
}

std::vector<std::byte> make_image(const Layout& layout, std::span<const double> values) {
  std::vector<std::byte> image(static_cast<std::size_t>(layout.total_bytes), kPoison);
  if (layout.role != Role::input) {
    for_each_gap(layout, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at)
        image[static_cast<std::size_t>(at)] = pattern(at);
    });
  }
  if (layout.role != Role::output) {
    parallel_for(layout.elements(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        store(layout.type, values[static_cast<std::size_t>(i)], image.data() + layout.offset(i));
      }
    });
  }
  return image;
}

std::optional<std::string> damage(const Layout& layout,
                                  std::span<const std::byte> before,
                                  std::span<const std::byte> after) {
  std::optional<std::int64_t> first;
  const auto look = [&](std::int64_t begin, std::int64_t end) {
    if (first || begin == end) return;
    const std::byte* old = before.data() + begin;
    const std::byte* now = after.data() + begin;
    const auto count = static_cast<std::size_t>(end - begin);
    if (std::memcmp(old, now, count) == 0) return;
    first = begin + (std::mismatch(old, old + count, now).first - old);
  };
  if (layout.role == Role::input) {
    look(0, layout.total_bytes);
  } else {
    for_each_gap(layout, look);
  }
  if (!first) return std::nullopt;
  return fmt::format("memory was overwritten {}", where(layout, *first));
}

std::vector<double> decode(const Layout& layout, std::span<const std::byte> image) {
  std::vector<double> values(static_cast<std::size_t>(layout.elements()));
  parallel_for(layout.elements(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      values[static_cast<std::size_t>(i)] = load(layout.type, image.data() + layout.offset(i));
    }
  });
  return values;
}

std::vector<std::byte> element_bytes(const Layout& layout, std::span<const std::byte> image) {
  std::vector<std::byte> bytes;
  if (layout.elements() == 0) return bytes;
  const std::int64_t row_bytes = layout.columns * size_bytes(layout.type);
  bytes.reserve(static_cast<std::size_t>(layout.rows * row_bytes));
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    const std::byte* at = image.data() + layout.offset(row * layout.columns);
    bytes.insert(bytes.end(), at, at + row_bytes);
  }
  return bytes;
}

}  // namespace kiln::verify
