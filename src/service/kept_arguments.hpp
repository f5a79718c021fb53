// Arguments that own their names, so that a clone can pack them again after the caller's strings
// are gone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <kiln/arguments.hpp>

namespace kiln {

// Fixed capacity: keeping and giving back allocate nothing.
class KeptArguments {
 public:
  static constexpr std::size_t kNameBytes = 48;

  // False when a name is longer than kNameBytes.
  [[nodiscard]] static bool fits(const Arguments& arguments) noexcept;
  void keep(const Arguments& arguments) noexcept;
  // Valid as long as this.
  [[nodiscard]] Arguments get() const noexcept;

 private:
  Arguments arguments_;
  std::array<std::array<char, kNameBytes>, Arguments::kCapacity> names_{};
};

}  // namespace kiln
