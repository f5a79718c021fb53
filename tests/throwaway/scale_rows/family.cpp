// The family scale_rows: plan, emit, compose, bind, reference, samples.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/family.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <kiln/error.hpp>

#include "tests/throwaway/scale_rows/layout.hpp"

namespace kiln::scale_rows {
namespace {

constexpr std::int64_t kMaxFusedColumns = 32'768;
constexpr std::int64_t kMaxCtas = 1 << 16;
constexpr std::array<std::string_view, 3> kTypes{"f32", "f16", "bf16"};
constexpr std::array<KeySpec, 2> kKeys{
    KeySpec{.name = "n", .maximum = 65'536, .required = true, .doc = "columns"},
    KeySpec{.name = "type",
            .kind = KeySpec::Kind::choice,
            .choices = kTypes,
            .default_value = "bf16",
            .doc = "element type of x and y"}};
constexpr std::array<OpSpec, 1> kOps{
    OpSpec{.name = "scale_rows", .keys = kKeys, .summary = "y[r, c] = x[r, c] * s[r]"}};

std::string type_of(const Signature& signature) { return std::string(signature.value("type")); }

StagePlan stage_of(std::string entry) {
  StagePlan stage;
  stage.entry = std::move(entry);
  stage.tile = "1 row";
  stage.threads = kThreads;
  stage.pipeline.why = "one pass, nothing to overlap";
  stage.smem_bytes = smem_bytes(kThreads);
  stage.register_budget = 64;
  return stage;
}

PlanResult plan(const Signature& signature, const DeviceLimits& limits, const Policy&) {
  const std::int64_t n = signature.integer("n");
  if (n > kMaxFusedColumns) {
    return Rejection{FallbackReason::unsupported_size,
                     "n = " + std::to_string(n) + " is above " + std::to_string(kMaxFusedColumns)};
  }
  Plan result;
  result.family = "scale_rows";
  result.signature = signature;
  result.arch = limits.arch;
  StagePlan stage = stage_of("scale_rows_" + type_of(signature) + "_t1_s1");
  stage.constants = {{"n", n}};
  stage.types = {{"T", type_of(signature)}};
  result.stages.push_back(std::move(stage));
  return result;
}

Source emit(const Plan& plan, std::size_t index) {
  const StagePlan& stage = plan.stages.at(index);
  std::string text = "// " + plan.signature.text() + "\n";
  text += "#include \"tests/throwaway/scale_rows/scale_rows.cuh\"\n\nstruct Config {\n";
  for (const auto& [name, type] : stage.types)
    text += "  using " + name + " = kiln::" + type + ";\n";
  for (const auto& [name, value] : stage.constants) {
    text += "  static constexpr long long " + name + " = " + std::to_string(value) + ";\n";
  }
  text += "  static constexpr int threads = " + std::to_string(stage.threads) + ";\n";
  text +=
      "  static constexpr long long smem_bytes = " + std::to_string(stage.smem_bytes) + ";\n};\n\n";
  text += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(stage.threads) +
          ")\n" + stage.entry +
          "(const __grid_constant__ kiln::scale_rows::Parameters p) {\n  "
          "kiln::scale_rows::fused<Config>(p);\n}\n";
  return {std::move(text), stage.entry};
}

Plan compose(const Signature& signature, const DeviceLimits& limits, const Fallback& fallback) {
  Plan result;
  result.family = "scale_rows";
  result.signature = signature;
  result.arch = limits.arch;
  result.route = Route::composed;
  result.fallback = fallback;
  result.stages.push_back(stage_of("scale_rows_composed_" + type_of(signature)));
  return result;
}

const Tensor& required(const Arguments& arguments, std::string_view name, DType type, int rank) {
  const Tensor* tensor = arguments.find(name);
  const auto refuse = [name](const std::string& why) -> Error {
    return {ErrorCode::invalid_argument, "scale_rows: tensor " + std::string(name) + " " + why};
  };
  if (tensor == nullptr) throw refuse("is missing or null");
  if (tensor->type != type) throw refuse("must be " + std::string(to_string(type)));
  if (tensor->rank != rank) throw refuse("must have rank " + std::to_string(rank));
  if (tensor->strides.at(static_cast<std::size_t>(rank) - 1) != 1)
    throw refuse("must have a unit last stride");
  return *tensor;
}

void bind(const Plan& plan, const Arguments& arguments, const LaunchContext&, CallList& calls) {
  const DType type = *parse_dtype(plan.signature.value("type"));
  const std::int64_t n = plan.signature.integer("n");
  const Tensor& x = required(arguments, "x", type, 2);
  const Tensor& s = required(arguments, "s", DType::f32, 1);
  const Tensor& y = required(arguments, "y", type, 2);
  const std::int64_t rows = x.shape[0];
  if (x.shape[1] != n || y.shape[1] != n || y.shape[0] != rows || s.shape[0] != rows) {
    throw Error(ErrorCode::invalid_argument,
                "scale_rows: x and y must be [rows, " + std::to_string(n) +
                    "] and s [rows], with the same rows");
  }
  if (rows == 0) return;
  KernelCall& call = calls.add();
  call.grid = {static_cast<unsigned>(std::min(rows, kMaxCtas)), 1, 1};
  call.threads = static_cast<unsigned>(plan.stages[0].threads);
  call.smem_bytes = plan.stages[0].smem_bytes;
  call.set_parameters(Parameters{.x = x.data,
                                 .s = static_cast<const float*>(s.data),
                                 .y = y.data,
                                 .rows = rows,
                                 .n = n,
                                 .x_stride = x.strides[0],
                                 .y_stride = y.strides[0]});
}

Problem problem(const Signature& signature, std::int64_t rows) {
  const DType type = *parse_dtype(signature.value("type"));
  const std::int64_t n = signature.integer("n");
  return {.tensors = {{.name = "x", .type = type, .shape = {rows, n}},
                      {.name = "s", .type = DType::f32, .shape = {rows}},
                      {.name = "y", .type = type, .shape = {rows, n}, .role = Role::output}},
          .floor_bytes = rows * (2 * n * size_bytes(type) + 4),
          .flops = static_cast<double>(rows * n)};
}

// Two roundings: to fp32, then to y's type. Unit roundoff and least subnormal of each.
std::vector<Expected> reference(const Signature& signature,
                                std::int64_t rows,
                                std::span<const HostTensor> inputs) {
  const auto type = signature.value("type");
  const double unit = type == "f32" ? 0x1p-24 : type == "f16" ? 0x1p-11 : 0x1p-8;
  const double least = type == "f16" ? 0x1p-24 : 0x1p-133;
  const auto n = static_cast<std::size_t>(signature.integer("n"));
  Expected y{.name = "y", .values = {}, .bounds = {}};
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    for (std::size_t c = 0; c < n; ++c) {
      const double value = inputs[0].values[r * n + c] * inputs[1].values[r];
      y.values.push_back(value);
      y.bounds.push_back(std::abs(value) * (unit + 0x1p-24) * (1 + unit) + least);
    }
  }
  return {std::move(y)};
}

std::vector<Sample> samples() {
  return {{"scale_rows:n=4096", "n4096_bf16.cu"},
          {"scale_rows:n=1,type=f32", ""},
          {"scale_rows:n=2880,type=f16", ""},
          {"scale_rows:n=65536", ""}};
}

}  // namespace

extern const Family family;
const Family family{.name = "scale_rows",
                    .emitter_version = 1,
                    .ops = [] { return pointers_to(kOps); },
                    .plan = plan,
                    .emit = emit,
                    .compose = compose,
                    .bind = bind,
                    .problem = problem,
                    .reference = reference,
                    .samples = samples};

}  // namespace kiln::scale_rows
