// Rounding doubles to 16-bit floats without an intermediate float, which would round twice.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/element.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace kiln::verify {
namespace {

// A binary interchange format of 16 bits: 1 sign bit, then exponent and mantissa.
struct Format {
  int mantissa_bits;
  int bias;

  [[nodiscard]] std::uint32_t infinity() const noexcept {
    return 0x7FFFu & ~((1u << mantissa_bits) - 1u);
  }
};
constexpr Format kF16{10, 15};
constexpr Format kBf16{7, 127};

std::uint16_t encode(double value, const Format& format) noexcept {
  const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
  const std::uint32_t infinity = format.infinity();
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(sign | infinity | 1u << (format.mantissa_bits - 1));
  }
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | infinity);
  if (magnitude == 0.0) return static_cast<std::uint16_t>(sign);

  int exponent = 0;
  std::frexp(magnitude, &exponent);
  --exponent;  // magnitude = 1.m * 2^exponent
  const int least = 1 - format.bias;
  const bool subnormal = exponent < least;
  const int quantum = (subnormal ? least : exponent) - format.mantissa_bits;
  // Scaling by a power of two is exact, so nearbyint (ties to even) is the only rounding.
  const double steps = std::nearbyint(std::ldexp(magnitude, -quantum));
  // Exponent and mantissa are one integer: a mantissa that rounds up to 2.0 carries into the
  // exponent.
  std::int64_t bits = static_cast<std::int64_t>(steps);
  if (!subnormal) bits += std::int64_t{exponent + format.bias - 1} << format.mantissa_bits;
  if (bits > infinity) bits = infinity;
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(bits));
}

double decode(std::uint16_t bits, const Format& format) noexcept {
  const std::uint32_t magnitude = bits & 0x7FFFu;
  const std::uint32_t fraction = magnitude & ((1u << format.mantissa_bits) - 1u);
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  double value = 0.0;
  if (magnitude > format.infinity()) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude == format.infinity()) {
    value = std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, 1 - format.bias - format.mantissa_bits);
  } else {
    value = std::ldexp(fraction + (1u << format.mantissa_bits),
                       exponent - format.bias - format.mantissa_bits);
  }
  return (bits & 0x8000u) != 0 ? -value : value;
}

template <class T>
T read(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void write(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

std::uint16_t to_f16(double value) noexcept { return encode(value, kF16); }
std::uint16_t to_bf16(double value) noexcept { return encode(value, kBf16); }
double from_f16(std::uint16_t bits) noexcept { return decode(bits, kF16); }
double from_bf16(std::uint16_t bits) noexcept { return decode(bits, kBf16); }

void store(DType type, double value, std::byte* at) noexcept {
  switch (type) {
    case DType::f32:
      return write(at, static_cast<float>(value));
    case DType::f16:
      return write(at, to_f16(value));
    case DType::bf16:
      return write(at, to_bf16(value));
    case DType::i32:
      return write(at, static_cast<std::int32_t>(value));
  }
}

double load(DType type, const std::byte* at) noexcept {
  switch (type) {
    case DType::f32:
      return static_cast<double>(read<float>(at));
    case DType::f16:
      return from_f16(read<std::uint16_t>(at));
    case DType::bf16:
      return from_bf16(read<std::uint16_t>(at));
    case DType::i32:
      return read<std::int32_t>(at);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double rounded(DType type, double value) noexcept {
  std::byte bytes[8];
  store(type, value, bytes);
  return load(type, bytes);
}

}  // namespace kiln::verify
