// The table of architectures, and reading their names.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/arch.hpp>
#include <kiln/error.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "src/core/diagnostics.hpp"

namespace kiln {
namespace {

constexpr int kKiB = 1024;

// The columns that differ between architectures.
struct Row {
  Arch arch;
  int smem_per_sm_kib;
  int threads_per_sm;
  int ctas_per_sm;
  std::string_view origin;
};

// Origins, a column:
// - shared memory an SM: the largest carve-out in cuda_occupancy.h of CUDA 13.0
// (cudaOccAlignUpShmemSizeVoltaPlus),
//   the same as in the CUDA Programming Guide's table "Technical Specifications per Compute
//   Capability";
// - 1 KiB of it is reserved by the system for every CTA (the guide, compute capability 8.0 up; the
// driver's attribute
//   RESERVED_SHARED_MEMORY_PER_BLOCK), so one CTA gets 1 KiB less: 163, 99, 227 KiB. ptxas 13.0
//   itself refuses more than 232,448 B for sm_90a to sm_110a and more than 101,376 B for sm_120a
//   and sm_121a;
// - registers: 64 Ki an SM, 255 a thread, on every architecture here (the guide's table);
// - threads: 1,024 a CTA on every architecture; 2,048 or 1,536 an SM (the guide's table: 64 or 48
// warps);
// - CTAs an SM: cudaOccMaxBlocksPerSMLimit in cuda_occupancy.h of CUDA 13.0;
// - clusters: 8 CTAs is the portable size, on compute capability 9.0 up (the guide, "Thread Block
// Clusters");
// - cp.async.bulk and mbarrier transactions: sm_90 up (PTX ISA, "cp.async.bulk", target notes).
constexpr std::string_view kGuide =
    "CUDA Programming Guide, technical specifications per compute capability; cuda_occupancy.h of "
    "CUDA 13.0";
constexpr std::string_view kGuideAndPtxas =
    "CUDA Programming Guide, technical specifications per compute capability; cuda_occupancy.h and "
    "the "
    "shared-memory limit of ptxas, CUDA 13.0";

constexpr std::array kRows{
    Row{{8, 0, '\0'}, 164, 2048, 32, kGuide},
    Row{{8, 6, '\0'}, 100, 1536, 16, kGuide},
    Row{{8, 7, '\0'}, 164, 1536, 16, kGuide},
    Row{{8, 9, '\0'}, 100, 1536, 24, kGuide},
    Row{{9, 0, 'a'}, 228, 2048, 32, kGuideAndPtxas},
    Row{{10, 0, 'a'}, 228, 2048, 32, kGuideAndPtxas},
    Row{{10, 3, 'a'}, 228, 2048, 32, kGuideAndPtxas},
    Row{{11, 0, 'a'}, 228, 1536, 24, kGuideAndPtxas},
    Row{{12, 0, 'a'}, 100, 1536, 24, kGuideAndPtxas},
    Row{{12, 1, 'a'}, 100, 1536, 24, kGuideAndPtxas},
};

constexpr DeviceLimits limits_from(const Row& row) {
  const bool hopper_or_later = row.arch.major >= 9;
  DeviceLimits limits;
  limits.arch = row.arch;
  limits.smem_reserved_per_cta_bytes = 1 * kKiB;
  limits.smem_per_sm_bytes = row.smem_per_sm_kib * kKiB;
  limits.smem_per_cta_bytes = limits.smem_per_sm_bytes - limits.smem_reserved_per_cta_bytes;
  limits.registers_per_sm = 64 * kKiB;
  limits.registers_per_thread = 255;
  limits.threads_per_sm = row.threads_per_sm;
  limits.threads_per_cta = 1024;
  limits.ctas_per_sm = row.ctas_per_sm;
  limits.max_cluster_ctas = hopper_or_later ? 8 : 0;
  limits.bulk_copy = hopper_or_later;
  limits.origin = row.origin;
  return limits;
}

constexpr auto kLimits = [] {
  std::array<DeviceLimits, kRows.size()> table{};
  for (std::size_t i = 0; i < kRows.size(); ++i) table[i] = limits_from(kRows[i]);
  return table;
}();

const DeviceLimits* find_capability(int major, int minor) noexcept {
  const auto found = std::ranges::find_if(kLimits, [&](const DeviceLimits& limits) {
    return limits.arch.major == major && limits.arch.minor == minor;
  });
  return found == kLimits.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(std::string_view text) {
  std::vector<std::string> names;
  for (const DeviceLimits& limits : kLimits) names.push_back(limits.arch.text());
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view prefix = text.starts_with("sm_") ? "" : "sm_";
  const std::string hint = did_you_mean(fmt::format("{}{}", prefix, text), known);
  throw Error{
      ErrorCode::unknown_arch,
      fmt::format("unknown architecture {}{}; known: {}", quote(text), hint, listed(known))};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Spelling {
  int major = 0;
  int minor = 0;
  char suffix = '\0';
};

// "90a", "9.0" or "9.0a", after an optional "sm_" that is gone already. The last digit is the minor
// version.
std::optional<Spelling> read_spelling(std::string_view text) {
  Spelling spelling;
  if (!text.empty() && !is_digit(text.back())) {
    spelling.suffix = text.back();
    text.remove_suffix(1);
  }
  const std::size_t dot = text.find('.');
  std::string digits(text.substr(0, dot));
  if (dot != std::string_view::npos) {
    if (text.size() - dot != 2) return std::nullopt;
    digits += text[dot + 1];
  }
  const bool plausible = (digits.size() == 2 || digits.size() == 3) && digits.front() != '0';
  if (!plausible || !std::ranges::all_of(digits, is_digit)) return std::nullopt;
  spelling.minor = digits.back() - '0';
  digits.pop_back();
  for (const char c : digits) spelling.major = spelling.major * 10 + (c - '0');
  return spelling;
}

}  // namespace

std::string Arch::text() const {
  std::string name = fmt::format("sm_{}{}", major, minor);
  if (suffix != '\0') name += suffix;
  return name;
}

Arch Arch::parse(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with("sm_")) rest.remove_prefix(3);
  const std::optional<Spelling> spelling = read_spelling(rest);
  if (!spelling) refuse(text);
  const DeviceLimits* limits = find_capability(spelling->major, spelling->minor);
  if (limits == nullptr) refuse(text);
  if (spelling->suffix != '\0' && spelling->suffix != limits->arch.suffix) refuse(text);
  return limits->arch;
}

std::span<const DeviceLimits> known_limits() noexcept { return kLimits; }

const DeviceLimits& limits_of(const Arch& arch) {
  const auto found = std::ranges::find(kLimits, arch, &DeviceLimits::arch);
  if (found == kLimits.end()) refuse(arch.text());
  return *found;
}

std::optional<Arch> arch_of_capability(int major, int minor) noexcept {
  const DeviceLimits* limits = find_capability(major, minor);
  if (limits == nullptr) return std::nullopt;
  return limits->arch;
}

}  // namespace kiln
