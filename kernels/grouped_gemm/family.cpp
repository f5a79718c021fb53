// The family: what a grouped GEMM's signature may say, and the constant that the service finds.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/family.hpp"

#include <array>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/grouped_gemm/op.hpp"

namespace kiln::grouped_gemm {
namespace {

constexpr std::array<std::string_view, 2> kOutTypes{"bf16", "f32"};

constexpr KeySpec kAccumulateKey{
    .name = "accumulate",
    .kind = KeySpec::Kind::flag,
    .default_value = "0",
    .doc = "add into dw, as dw.add_() would, instead of overwriting it"};
constexpr KeySpec kKKey{
    .name = "k", .maximum = kMaxWidth, .required = true, .doc = "columns of x, a multiple of 8"};
constexpr KeySpec kNKey{.name = "n",
                        .maximum = kMaxWidth,
                        .required = true,
                        .doc = "columns of y and g, a multiple of 8"};
constexpr KeySpec kOutKey{.name = "out",
                          .kind = KeySpec::Kind::choice,
                          .choices = kOutTypes,
                          .default_value = "bf16",
                          .doc = "type of the output; sums are fp32"};
constexpr KeySpec kRowsKey{
    .name = "rows",
    .minimum = 0,
    .maximum = kMaxRows,
    .default_value = "0",
    .doc = "mean rows of a group, to prepare just the kernel for them; 0: any"};

constexpr std::array<KeySpec, 4> kKeys{kKKey, kNKey, kOutKey, kRowsKey};
constexpr std::array<KeySpec, 5> kWgradKeys{kAccumulateKey, kKKey, kNKey, kOutKey, kRowsKey};

void complete(Signature& signature) {
  for (const std::string_view key : {"k", "n"}) {
    const std::int64_t value = signature.integer(key);
    if (value % 8 == 0) continue;
    throw Error(
        ErrorCode::invalid_signature,
        fmt::format("{}: {}={} is not a multiple of 8: rows of bf16 are read in whole units "
                    "of 16 bytes; pad to {}={}",
                    signature.op,
                    key,
                    value,
                    key,
                    (value + 7) / 8 * 8));
  }
}

constexpr std::array<OpSpec, 3> kOps{
    OpSpec{.name = kDgrad,
           .keys = kKeys,
           .summary = "dx[r] = g[r] w[e] for the rows r of each group e",
           .complete = complete},
    OpSpec{.name = kForward,
           .keys = kKeys,
           .summary = "y[r] = x[r] w[e]^T for the rows r of each group e",
           .complete = complete},
    OpSpec{.name = kWgrad,
           .keys = kWgradKeys,
           .summary = "dw[e] = g[r]^T x[r] over the rows r of each group e, or added to it",
           .complete = complete},
};

}  // namespace

GroupedGemm GroupedGemm::from(const Signature& signature) {
  GroupedGemm gemm;
  gemm.op = signature.op == kForward ? Op::forward : signature.op == kDgrad ? Op::dgrad : Op::wgrad;
  gemm.n = signature.integer("n");
  gemm.k = signature.integer("k");
  gemm.out = *parse_dtype(signature.value("out"));
  gemm.accumulate = gemm.op == Op::wgrad && signature.flag("accumulate");
  gemm.mean_rows = signature.integer("rows");
  return gemm;
}

std::string_view GroupedGemm::name() const {
  return op == Op::forward ? kForward : op == Op::dgrad ? kDgrad : kWgrad;
}

std::string_view GroupedGemm::out_name() const {
  return op == Op::forward ? "y" : op == Op::dgrad ? "dx" : "dw";
}

std::vector<Sample> samples() {
  return {
      {"grouped_gemm_forward:n=512,k=384", "grouped_gemm_forward.cu"},
      {"grouped_gemm_dgrad:n=384,k=576", "grouped_gemm_dgrad.cu"},
      {"grouped_gemm_wgrad:n=256,k=320,out=f32,accumulate=1", "grouped_gemm_wgrad_accumulate.cu"},
      {"grouped_gemm_forward:n=264,k=136,out=f32", ""},
      {"grouped_gemm_dgrad:n=72,k=520,out=f32", ""},
      {"grouped_gemm_wgrad:n=136,k=264", ""},
      {"grouped_gemm_wgrad:n=72,k=520,out=f32", ""},
      {"grouped_gemm_wgrad:n=256,k=192,accumulate=1", ""},
      {"grouped_gemm_wgrad:n=8,k=8,out=f32,accumulate=1,rows=64", ""},
      {"grouped_gemm_forward:n=8,k=8", ""},
  };
}

extern const Family family;
const Family family{
    .name = "grouped_gemm",
    .emitter_version = 1,
    .ops = [] { return pointers_to(kOps); },
    .plan = plan,
    .emit = emit,
    .compose = compose,
    .bind = bind,
    .problem = problem,
    .reference = reference,
    .samples = samples,
    .candidates = candidates,
    .grouped_problem = grouped_problem,
};

}  // namespace kiln::grouped_gemm
