// libFuzzer's entry point, compiled once a target.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kiln::fuzz::KILN_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
