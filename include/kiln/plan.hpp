// What will run for a signature on an architecture, and why every number in it is what it is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/fallback.hpp>
#include <kiln/signature.hpp>

#pragma GCC visibility push(default)  // the names a shared library exports

namespace [[gnu::visibility("default")]] kiln {

enum class Route { fused, composed };
enum class Origin { none, memory, cache, layer, compiled, embedded };

[[nodiscard]] std::string_view to_string(Route route) noexcept;
[[nodiscard]] std::string_view to_string(Origin origin) noexcept;

// Pipeline stages: shared-memory buffers of one step's inputs.
struct PipelineChoice {
  int asked = 1;  // by the reference formula
  int cap = 1;    // by policy
  int fits = 1;   // by the exact shared-memory budget
  int chosen = 1;
  std::string why;

  bool operator==(const PipelineChoice&) const = default;
};

// One kernel of the plan.
struct StagePlan {
  std::string entry;
  std::string tile;     // for people: "2 rows x 4096 columns"
  int threads = 0;      // a CTA
  int ctas_per_sm = 1;  // planned residency
  int cluster_ctas = 1;
  PipelineChoice pipeline;
  std::int64_t smem_bytes = 0;  // dynamic, a CTA
  int register_budget = 0;      // registers a thread the plan allows
  std::vector<std::pair<std::string, std::int64_t>>
      constants;  // become the source's prelude, in this order
  std::vector<std::pair<std::string, std::string>> types;  // likewise: role to element type

  // Known once the kernel is compiled; -1 before.
  int registers = -1;
  std::int64_t spill_bytes = -1;
  std::int64_t static_smem_bytes = -1;
  std::string digest;  // hex; empty for embedded kernels
  Origin origin = Origin::none;
  double compile_ms = 0.0;  // when origin is compiled

  // Throws Error{internal} when there is no such constant.
  [[nodiscard]] std::int64_t constant(std::string_view name) const;

  bool operator==(const StagePlan&) const = default;
};

struct Plan {
  std::string family;
  Signature signature;
  Arch arch;
  Route route = Route::fused;
  std::optional<Fallback> fallback;  // set when route is composed
  std::int64_t workspace_bytes = 0;  // most a launch needs, for any run-time size
  // How an op that can add into its output does: "off" (it overwrites), "fused" (its last store
  // adds), "composed" (it overwrites scratch, which is then added), with why not fused. Empty: the
  // op has no such choice.
  std::string accumulate;
  std::string accumulate_reason;
  std::vector<StagePlan> stages;
  // The built-in kernels that run, with the same bits, for arguments that `stages` do not take, and
  // which arguments those are. Empty: `stages` take every argument.
  std::vector<StagePlan> otherwise;
  std::string otherwise_when;
  std::vector<std::string> notes;  // one line a decision, for `kiln explain`

  [[nodiscard]] std::string json(int indent = -1) const;
  // A kernel by its number: those of `stages` first, then those of `otherwise`. Throws
  // Error{internal} when there is none.
  [[nodiscard]] const StagePlan& kernel(std::size_t index) const;

  bool operator==(const Plan&) const = default;
};

}  // namespace kiln

#pragma GCC visibility pop
