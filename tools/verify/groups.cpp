// Reading and dealing out groups.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/groups.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln::verify {
namespace {

constexpr std::array<std::pair<std::string_view, Groups::Kind>, 4> kKinds{{
    {"balanced", Groups::Kind::balanced},
    {"skewed", Groups::Kind::skewed},
    {"one-empty", Groups::Kind::one_empty},
    {"zipf", Groups::Kind::zipf},
}};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("groups '{}': {}; write a number of groups (64), one with a kind "
                          "(64:balanced, :skewed, :one-empty or :zipf), or sizes (100,0,28)",
                          text,
                          why));
}

std::int64_t number(std::string_view piece, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
  if (piece.empty() || error != std::errc() || end != piece.data() + piece.size() || value < 0 ||
      value > INT32_MAX) {
    refuse(text, fmt::format("'{}' is no number from 0 to 2^31-1", piece));
  }
  return value;
}

std::vector<double> shares(Groups::Kind kind, std::int64_t count) {
  std::vector<double> out(static_cast<std::size_t>(count), 1.0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kind == Groups::Kind::skewed && i < out.size() / 2) out[i] = 3.0;
    if (kind == Groups::Kind::zipf) out[i] = 1.0 / static_cast<double>(i + 1);
  }
  if (kind == Groups::Kind::one_empty && count > 1) out[out.size() / 2] = 0.0;
  return out;
}

}  // namespace

Groups Groups::parse(std::string_view text) {
  Groups out;
  out.text_ = text;
  if (text.find(',') != std::string_view::npos) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      out.sizes_.push_back(number(text.substr(at, end - at), text));
      at = end + 1;
    }
    out.count_ = static_cast<std::int64_t>(out.sizes_.size());
    if (std::accumulate(out.sizes_.begin(), out.sizes_.end(), std::int64_t{0}) > INT32_MAX)
      refuse(text, "the sizes add up to 2^31 rows or more");
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    out.count_ = number(text.substr(0, colon), text);
    if (colon < text.size()) {
      const std::string_view name = text.substr(colon + 1);
      const auto* kind = std::find_if(
          kKinds.begin(), kKinds.end(), [&](const auto& each) { return each.first == name; });
      if (kind == kKinds.end()) refuse(text, fmt::format("'{}' is no known kind", name));
      out.kind_ = kind->second;
    }
  }
  if (out.count_ < 1 || out.count_ > kMostGroups)
    refuse(text, fmt::format("{} groups; 1 to {} are served", out.count_, kMostGroups));
  return out;
}

Groups Groups::with_count(std::int64_t count) const {
  Groups out = *this;
  if (!given()) out.count_ = count;
  return out;
}

std::vector<std::int64_t> Groups::sizes(std::int64_t rows, std::uint64_t seed) const {
  if (given()) return sizes_;
  std::vector<double> share = shares(kind_, count_);
  std::mt19937_64 random(seed);
  // std::shuffle's draws differ between libraries.
  for (std::size_t i = share.size(); kind_ != Kind::balanced && i > 1; --i)
    std::swap(share[i - 1], share[random() % i]);
  const double all = std::accumulate(share.begin(), share.end(), 0.0);
  std::vector<std::int64_t> out;
  double through = 0;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    through += share[i];
    // Ends are rounded, not sizes, so that nothing is left over; empty groups stay empty.
    const bool rest = std::all_of(share.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                  share.end(),
                                  [](double each) { return each == 0.0; });
    const std::int64_t next =
        share[i] == 0.0 ? end
        : rest          ? rows
                        : static_cast<std::int64_t>(static_cast<double>(rows) * (through / all));
    out.push_back(next - end);
    end = next;
  }
  return out;
}

Problem make_problem(const Signature& signature,
                     std::int64_t rows,
                     const std::vector<std::int64_t>& sizes) {
  const Family& family = find_family(signature.op);
  if (sizes.empty()) return family.problem(signature, rows);
  if (family.grouped_problem == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has no groups: leave --groups out", signature.op));
  }
  return family.grouped_problem(signature, rows, sizes);
}

}  // namespace kiln::verify
