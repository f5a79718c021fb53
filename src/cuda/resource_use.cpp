// Reading what ptxas says about an entry with --ptxas-options=-v.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/cuda/nvrtc.hpp"

namespace kiln {
namespace {

constexpr std::string_view kEntryLine = "Compiling entry function '";

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// The number in front of `unit`: 128 for " bytes smem" in "used 1 barriers, 128 bytes smem".
std::optional<std::int64_t> number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t number = 0;
  const auto [at, error] = std::from_chars(line.data() + begin, line.data() + end, number);
  if (error != std::errc{} || at != line.data() + end) return std::nullopt;
  return number;
}

}  // namespace

// One entry's lines run from its "Compiling entry function" to the next entry's. Functions it calls
// follow it, each with its own stack line; "Used ..." is the entry's and already counts the
// registers of its callees:
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//   ptxas         .     32 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 18 registers, used 1 barriers, 32 bytes cumulative stack size, 128 bytes
//   smem
bool read_resource_use(std::string_view log, std::string_view entry, Cubin& cubin) {
  const std::string start = std::string(kEntryLine) + std::string(entry) + "'";
  const std::size_t at = log.find(start);
  if (at == std::string_view::npos) return false;
  std::string_view rest = log.substr(at);
  (void)take_line(rest);

  std::optional<std::int64_t> registers;
  std::int64_t stack_bytes = 0;
  std::int64_t smem_bytes = 0;
  std::int64_t spill_bytes = 0;
  bool has_stack_line = false;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.find(kEntryLine) != std::string_view::npos) break;
    if (const auto stack = number_before(line, " bytes stack frame")) {
      const auto stores = number_before(line, " bytes spill stores");
      const auto loads = number_before(line, " bytes spill loads");
      if (!stores || !loads) return false;
      if (!has_stack_line) stack_bytes = *stack;
      has_stack_line = true;
      spill_bytes += *stores + *loads;
    }
    if (!registers) {
      registers = number_before(line, " registers");
      if (registers) smem_bytes = number_before(line, " bytes smem").value_or(0);
    }
  }
  if (!registers || !has_stack_line) return false;
  cubin.registers = static_cast<int>(*registers);
  cubin.spill_bytes = spill_bytes;
  cubin.stack_bytes = stack_bytes;
  cubin.static_smem_bytes = smem_bytes;
  return true;
}

}  // namespace kiln
