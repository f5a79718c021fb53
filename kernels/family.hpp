// What a kernel family is: a constant with op specifications and pure functions. The one header a
// newcomer reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/arguments.hpp>
#include <kiln/plan.hpp>
#include <kiln/policy.hpp>
#include <kiln/signature.hpp>

#include "src/core/closure.hpp"
#include "src/core/op_spec.hpp"

namespace kiln {

// ---- launching
// ---------------------------------------------------------------------------------------------------

// What may differ between two devices of one architecture; never reaches a digest.
struct LaunchContext {
  int sm_count = 0;  // SMs the launch may use (fewer than the device's to test or to share)
  std::array<int, 4> ctas_per_sm{
      1, 1, 1, 1};  // a stage: resident CTAs an SM, asked of the driver for the loaded kernel
  // A stage with clusters: how many the device holds at once, asked of the driver; 0 for others.
  std::array<int, 4> clusters{};
  void* workspace = nullptr;  // device memory, workspace_bytes, 256-byte aligned, never initialised
  std::int64_t workspace_bytes = 0;
  void* counters = nullptr;  // device memory owned by the Launch, kCounterBytes, zeroed once
};
inline constexpr std::int64_t kCounterBytes = 256;

// A tensor map that the driver encodes into a call's parameters: what the copy engine reads or
// writes a tensor through. Elements outside the tensor are read as zeros and not written.
struct TensorMapRequest {
  std::size_t offset = 0;  // of the TensorMap in the parameters, a multiple of 64
  const void* data = nullptr;
  DType type = DType::bf16;
  int rank = 2;
  std::array<std::uint64_t, 3> shape{1, 1, 1};  // fastest first; elements
  std::array<std::uint64_t, 2> strides{};       // of all but the fastest; bytes, multiples of 16
  std::array<std::uint32_t, 3> box{1, 1, 1};
  bool swizzle = true;  // 128-byte rows whose 16-byte units are exchanged by row
};

// One kernel launch. Every kernel takes one parameter: a struct by value.
struct KernelCall {
  static constexpr std::size_t kMaxParameterBytes = 1024;
  int stage = 0;  // index into Plan::stages
  std::array<unsigned, 3> grid{1, 1, 1};
  unsigned threads = 0;
  unsigned cluster_ctas = 1;
  bool cooperative = false;  // CTAs wait for one another: all must be resident
  std::int64_t smem_bytes = 0;
  std::size_t parameter_bytes = 0;
  alignas(64) std::array<std::byte, kMaxParameterBytes> parameters{};
  static constexpr int kMaxTensorMaps = 3;
  std::array<TensorMapRequest, kMaxTensorMaps> tensor_maps{};
  int tensor_map_count = 0;

  template <class Struct>
  void set_parameters(const Struct& value);
};

// Calls of one bind, run in order on one stream. Fixed capacity: re-binding allocates nothing.
struct CallList {
  static constexpr int kCapacity = 4;
  std::array<KernelCall, kCapacity> calls{};
  int count = 0;

  KernelCall& add();  // throws Error{internal} when full
};

// ---- verifying: what `kiln run`, the conformance suite and the GPU tests use
// ---------------------------------------

enum class Role { input, output, in_out };
enum class Fill { normal, positive, small, zero };  // N(0,1); U(0.5, 1.5); N(0,1)/16; zeros

struct TensorSpec {
  std::string name;
  DType type = DType::f32;
  std::vector<std::int64_t> shape;  // rank 1 to 3, row-major; none: a number, passed by value
  Role role = Role::input;
  Fill fill = Fill::normal;
  std::vector<double> values{};  // what it holds, when that is part of the problem: offsets
  int alignment = 0;  // bytes that its base and rows must be multiples of; 0: an element's
};

struct Problem {
  std::vector<TensorSpec> tensors;
  std::int64_t floor_bytes =
      0;  // bytes that must move: each input read once, each output written once
  double flops = 0;
};

struct HostTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;  // what the typed element holds, exactly
};

// A double-precision result and, an element, the largest error the formula's rounding analysis
// allows.
struct Expected {
  std::string name;
  std::vector<double> values;
  std::vector<double> bounds;
};

// ---- the family
// ------------------------------------------------------------------------------------------------------

using PlanResult = std::variant<Plan, Rejection>;

struct Sample {
  std::string signature;  // text form
  std::string golden;     // file in golden/ that the sm_90a source must equal; empty: none
};

struct Family {
  std::string_view name;    // equals the folder's
  int emitter_version = 1;  // raise when emit changes meaning without changing text
  // Those that are there now; none ever goes or moves.
  std::vector<const OpSpec*> (*ops)();
  // The one of that name, or null; without it, looked for among ops(). For families whose specs
  // cost something to make.
  const OpSpec* (*find_op)(std::string_view op) = nullptr;

  // Pure. The fused plan for a canonical signature, or why there is none.
  PlanResult (*plan)(const Signature&, const DeviceLimits&, const Policy&);
  // Pure. The source of one stage of a fused plan: a prelude of constants, then an #include of
  // ordinary CUDA; and of one stage of a composed plan whose entry is in no embedded image.
  Source (*emit)(const Plan&, std::size_t stage);
  // Pure. The composed plan; its entries are in the family's composed.cu, or, as for an op that a
  // user described, are compiled. Never refuses a valid signature.
  Plan (*compose)(const Signature&, const DeviceLimits&, const Fallback&);
  // Pure. Checks the arguments (Error{invalid_argument}) and packs the launches of a plan of either
  // route.
  void (*bind)(const Plan&, const Arguments&, const LaunchContext&, CallList&);
  // Pure. Tensors of a problem with that many rows; and the double-precision reference with error
  // bounds, given every input and in_out tensor's values before the run, in the order of
  // Problem::tensors.
  Problem (*problem)(const Signature&, std::int64_t rows);
  std::vector<Expected> (*reference)(const Signature&,
                                     std::int64_t rows,
                                     std::span<const HostTensor>);
  std::vector<Sample> (*samples)();
  // Pure; null for families that plan one way alone. Names of the kernels that `plan` could choose
  // among, its own choice apart; it makes the one that Policy::candidate names.
  std::vector<std::string> (*candidates)(const Signature&, const DeviceLimits&) = nullptr;
  // Pure; null for families whose rows do not fall into groups. A problem with groups of these
  // sizes, one after another; the rows that are left belong to none.
  Problem (*grouped_problem)(const Signature&,
                             std::int64_t rows,
                             std::span<const std::int64_t> sizes) = nullptr;
};

// The generated list of every family in kernels/.
[[nodiscard]] std::span<const Family* const> families() noexcept;

// Of any family; null for an op that none has.
[[nodiscard]] const OpSpec* find_op_spec(std::string_view op);

// Throws Error{unknown_op} that lists the known ones and suggests the nearest.
[[nodiscard]] const Family& find_family(std::string_view op);

template <class Struct>
void KernelCall::set_parameters(const Struct& value) {
  static_assert(sizeof(Struct) <= kMaxParameterBytes && alignof(Struct) <= 64,
                "parameters must fit a KernelCall");
  parameter_bytes = sizeof(Struct);
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  for (std::size_t i = 0; i < sizeof(Struct); ++i) parameters[i] = bytes[i];
}

}  // namespace kiln
