// GPU architectures and the limits planning needs, so that planning needs no GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)  // the names a shared library exports

namespace [[gnu::visibility("default")]] kiln {

// An architecture with its suffix: sm_90 and sm_90a are different compile targets.
struct Arch {
  int major = 0;
  int minor = 0;
  char suffix = '\0';  // '\0' or 'a'

  // "sm_90a"
  [[nodiscard]] std::string text() const;

  // Accepts "sm_90a", "90a" and "9.0"; a plain name whose architecture has an 'a' variant resolves
  // to it
  // ("sm_90" gives sm_90a), because that is what kiln compiles for. Throws Error{unknown_arch} that
  // lists the known ones and suggests the nearest.
  [[nodiscard]] static Arch parse(std::string_view text);

  auto operator<=>(const Arch&) const = default;
};

// What planning may rely on. Anything two GPUs of one architecture may differ in (SM count, memory)
// is not here.
struct DeviceLimits {
  Arch arch;
  int smem_per_cta_bytes = 0;           // opt-in limit of dynamic plus static shared memory a CTA
  int smem_per_sm_bytes = 0;            // shared memory an SM
  int smem_reserved_per_cta_bytes = 0;  // taken by the system from every CTA
  int registers_per_sm = 0;             // 32-bit registers an SM
  int registers_per_thread = 0;         // most a thread may use
  int threads_per_sm = 0;
  int threads_per_cta = 0;
  int ctas_per_sm = 0;
  int max_cluster_ctas = 0;  // portable cluster size; 0: no clusters
  bool bulk_copy = false;    // cp.async.bulk and mbarrier transactions (sm_90 up)
  std::string_view origin;   // where the numbers come from

  bool operator==(const DeviceLimits&) const = default;
};

// Every architecture kiln plans for, in ascending order.
[[nodiscard]] std::span<const DeviceLimits> known_limits() noexcept;

// Throws Error{unknown_arch} when the table has no such architecture.
[[nodiscard]] const DeviceLimits& limits_of(const Arch& arch);

// The architecture a device of this compute capability looks kernels up under ({9, 0} gives
// sm_90a). Nothing when the table has none for it.
[[nodiscard]] std::optional<Arch> arch_of_capability(int major, int minor) noexcept;

}  // namespace kiln

#pragma GCC visibility pop
