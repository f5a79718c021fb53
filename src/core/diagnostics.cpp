// Quoting, edit distance and lists for error messages.
// SPDX-License-Identifier: Apache-2.0
#include "src/core/diagnostics.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace kiln {
namespace {

// Names in kiln are short; longer input is not a typing slip, and the quadratic distance stays
// bounded.
constexpr std::size_t kLongestName = 64;

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t substituted = diagonal + (left[i] == right[j] ? 0U : 1U);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string quote(std::string_view text, std::size_t most) {
  std::string out = "\"";
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  out += text.size() > most ? "...\"" : "\"";
  return out;
}

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
  std::string_view best;
  if (text.empty() || text.size() > kLongestName) return best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    // A third of the longer name may differ: "dww" suggests "dw", "banana" does not.
    const std::size_t allowed = std::max(text.size(), candidate.size()) / 3 + 1;
    const std::size_t distance = edit_distance(text, candidate);
    if (distance > allowed || distance >= candidate.size()) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates) {
  const std::string_view best = nearest(text, candidates);
  return best.empty() ? std::string() : fmt::format(" (did you mean {}?)", quote(best));
}

std::string listed(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace kiln
