// The functions of elementary.hpp on the device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/mix_order_reduction/elementary.hpp"

namespace kiln::mix_order_reduction {

struct DeviceArithmetic {
  static float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
  static float divide(float a, float b) { return __fdiv_rn(a, b); }
  static unsigned bits(float a) { return __float_as_uint(a); }
  static float value(unsigned a) { return __uint_as_float(a); }
};
using Functions = Elementary<DeviceArithmetic>;

}  // namespace kiln::mix_order_reduction
