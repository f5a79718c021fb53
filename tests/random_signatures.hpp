// Signatures of a family's ops at random: every key, every value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include <kiln/error.hpp>

#include "kernels/family.hpp"

namespace kiln::testing {

// n is log-uniform in [1, most_n], every other value uniform; half of the widths are multiples
// of 8.
inline Signature random_signature(const Family& family, std::int64_t most_n, std::mt19937& random) {
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const std::vector<const OpSpec*> ops = family.ops();
  while (true) {
    const OpSpec& op = *ops[pick(ops.size())];
    const double exponent = std::uniform_real_distribution<double>(
        0, std::log2(static_cast<double>(most_n) + 1))(random);
    auto n = static_cast<std::int64_t>(std::exp2(exponent));
    if (pick(2) == 0) n = (n + 7) / 8 * 8;
    std::string text = std::string(op.name) + ":n=" + std::to_string(n < most_n ? n : most_n);
    for (const KeySpec& key : op.keys) {
      if (key.name == "n") continue;
      if (key.kind == KeySpec::Kind::flag)
        text += "," + std::string(key.name) + "=" + std::to_string(pick(2));
      if (key.kind == KeySpec::Kind::choice && pick(3) != 0)
        text +=
            "," + std::string(key.name) + "=" + std::string(key.choices[pick(key.choices.size())]);
    }
    try {
      return Signature::parse(text);
    } catch (const Error& error) {
      if (error.code != ErrorCode::invalid_signature) throw;  // keys that contradict each other
    }
  }
}

}  // namespace kiln::testing
