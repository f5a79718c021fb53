// Counter-based random numbers: element i is a hash of (stream, i).
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/random.hpp"

#include <cmath>
#include <random>

namespace kiln::verify {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection whose output bits are well
// mixed.
std::uint64_t mix(std::uint64_t value) noexcept {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

// (0, 1]: never zero, so that its logarithm is finite.
double unit(std::uint64_t bits) noexcept {
  return (static_cast<double>(bits >> 11) + 1.0) * 0x1.0p-53;
}

double normal(std::uint64_t bits) noexcept {
  constexpr double kTwoPi = 6.283185307179586;
  const double radius = std::sqrt(-2.0 * std::log(unit(bits)));
  return radius * std::cos(kTwoPi * unit(mix(bits)));
}

}  // namespace

std::uint64_t stream_of(std::uint64_t seed, std::string_view name) noexcept {
  std::uint64_t stream = mix(seed);
  for (const char c : name) stream = mix(stream ^ static_cast<unsigned char>(c));
  return stream;
}

double sample(Fill fill, std::uint64_t stream, std::int64_t index) noexcept {
  const std::uint64_t bits = mix(stream + static_cast<std::uint64_t>(index) * 0xD1342543DE82EF95u);
  switch (fill) {
    case Fill::normal:
      return normal(bits);
    case Fill::positive:
      return 0.5 + unit(bits);
    case Fill::small:
      return normal(bits) / 16.0;
    case Fill::zero:
      return 0.0;
  }
  return 0.0;
}

std::uint64_t fresh_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

}  // namespace kiln::verify
