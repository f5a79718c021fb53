// Operations of fp32 that C++ does not spell: one function an instruction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {

inline float absolute(float a) {
  float out;
  asm("abs.f32 %0, %1;" : "=f"(out) : "f"(a));
  return out;
}
// NaN where either operand is, which min.f32 and max.f32 would drop; -0 is below +0.
inline float minimum(float a, float b) {
  float out;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
  return out;
}
inline float maximum(float a, float b) {
  float out;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
  return out;
}

}  // namespace kiln
