// exp, log, tanh, sigmoid and erf of fp32, from operations that round once: one text for host and
// device, so that the host gives the device's bits. No library: NVRTC's changes with its version.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::mix_order_reduction {

// Arithmetic gives: fma(a, b, c), rounded once; divide(a, b), rounded to nearest; bits(float) and
// value(unsigned), the same 32 bits. Polynomials are minimax fits in the intervals that are named;
// bounded.hpp says how far a function may be off.
template <class Arithmetic>
struct Elementary {
  static constexpr float kLog2Hi = 0x1.62e4p-1f;  // 16 bits: a product with an exponent is exact
  static constexpr float kLog2Lo = 0x1.7f7d1cp-20f;

  static float fma(float a, float b, float c) { return Arithmetic::fma(a, b, c); }
  static float with_sign(float magnitude, float sign) {
    return Arithmetic::value((Arithmetic::bits(magnitude) & 0x7fffffffu) |
                             (Arithmetic::bits(sign) & 0x80000000u));
  }
  static float power_of_two(int exponent) {
    return Arithmetic::value(static_cast<unsigned>(exponent + 127) << 23);
  }

  // e^x = 2^k e^r, |r| <= log(2) / 2: 1 + r + r^2 P(r).
  static float exp(float x) {
    // Where the result is 0 or infinite; a NaN stays.
    x = x < -105.0f ? -105.0f : x;
    x = x > 89.0f ? 89.0f : x;
    constexpr float kShift = 0x1.8p+23f;  // adding it rounds to an integer
    const float shifted = fma(x, 0x1.715476p+0f, kShift);
    const float k = shifted - kShift;
    const float r = fma(-k, kLog2Lo, fma(-k, kLog2Hi, x));
    float p = 0x1.6d1118p-10f;
    p = fma(p, r, 0x1.120b7ep-7f);
    p = fma(p, r, 0x1.55551ap-5f);
    p = fma(p, r, 0x1.5554dcp-3f);
    p = fma(p, r, 0x1p-1f);
    p = fma(p, r * r, r) + 1.0f;
    // In two steps, each within range, so that only the last one rounds, and only below 2^-126.
    const int exponent =
        static_cast<int>(Arithmetic::bits(shifted) - Arithmetic::bits(kShift)) % 256;
    const int half = exponent / 2;
    return p * power_of_two(half) * power_of_two(exponent - half);
  }

  // log(2^k m) = k log(2) + log(m), m in [sqrt(1/2), sqrt(2)): f - f^2 / 2 + f^3 P(f), f = m - 1.
  static float log(float x) {
    const bool tiny = x < 0x1p-126f;
    const float scaled = tiny ? x * 0x1p+24f : x;
    const unsigned bits = Arithmetic::bits(scaled);
    const unsigned offset = bits - 0x3f3504f3u;  // sqrt(1/2)
    const int k = static_cast<int>(offset) >> 23;
    const float f = Arithmetic::value(bits - (static_cast<unsigned>(k) << 23)) - 1.0f;
    float p = 0x1.1dbe4p-4f;
    p = fma(p, f, -0x1.d6834ep-4f);
    p = fma(p, f, 0x1.deb5a4p-4f);
    p = fma(p, f, -0x1.fcec28p-4f);
    p = fma(p, f, 0x1.23d0c6p-3f);
    p = fma(p, f, -0x1.555b6ap-3f);
    p = fma(p, f, 0x1.999d64p-3f);
    p = fma(p, f, -0x1.fffffcp-3f);
    p = fma(p, f, 0x1.555554p-2f);
    const float e = static_cast<float>(tiny ? k - 24 : k);
    const float square = f * f;
    const float low = fma(e, kLog2Lo, square * fma(p, f, -0.5f));
    const float result = fma(e, kLog2Hi, f + low);
    if (x == 0.0f) return Arithmetic::value(0xff800000u);
    if (!(x > 0.0f)) return Arithmetic::value(0x7fffffffu);
    return bits == 0x7f800000u ? x : result;
  }

  // |x| < 0.625: x + x^3 P(x^2); else 1 - 2 / (e^(2 |x|) + 1).
  static float tanh(float x) {
    const float a = with_sign(x, 1.0f);
    const float s = x * x;
    float p = -0x1.8f6b1ep-8f;
    p = fma(p, s, 0x1.57fe94p-6f);
    p = fma(p, s, -0x1.b924eap-5f);
    p = fma(p, s, 0x1.110e1ap-3f);
    p = fma(p, s, -0x1.555552p-2f);
    const float near = fma(p * s, x, x);
    const float far = 1.0f - Arithmetic::divide(2.0f, exp(2.0f * a) + 1.0f);
    return with_sign(a < 0.625f ? near : far, x);
  }

  static float sigmoid(float x) { return Arithmetic::divide(1.0f, 1.0f + exp(-x)); }

  // |x| <= 0.927: x + x P(x^2); else 1 - e^(-Q(|x|)).
  static float erf(float x) {
    const float a = with_sign(x, 1.0f);
    const float s = x * x;
    float p = 0x1.5e027ap-14f;
    p = fma(p, s, -0x1.aa9eaep-11f);
    p = fma(p, s, 0x1.54d34cp-8f);
    p = fma(p, s, -0x1.b80fdp-6f);
    p = fma(p, s, 0x1.ce2e18p-4f);
    p = fma(p, s, -0x1.812744p-2f);
    p = fma(p, s, 0x1.06eba8p-3f);
    const float near = fma(p, x, x);
    float q = -0x1.bddc78p-20f;
    q = fma(q, a, 0x1.861678p-15f);
    q = fma(q, a, -0x1.3abc9cp-11f);
    q = fma(q, a, 0x1.38ececp-8f);
    q = fma(q, a, -0x1.b189a4p-6f);
    q = fma(q, a, 0x1.c32640p-4f);
    q = fma(q, a, 0x1.4376c2p-1f);
    q = fma(q, a, 0x1.0ac826p-3f);
    const float far = 1.0f - exp(-fma(q, a, a - 0x1.568faap-12f));
    return a <= 0.927f ? near : with_sign(a >= 4.0f ? 1.0f : far, x);
  }
};

}  // namespace kiln::mix_order_reduction
