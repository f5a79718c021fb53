// The typed front ends of all other ops, with every combination of options; defaults and mistakes.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kiln/absmax.hpp>
#include <kiln/adaln_backward.hpp>
#include <kiln/bias_backward.hpp>
#include <kiln/error.hpp>
#include <kiln/layer_norm_forward.hpp>
#include <kiln/rms_norm_backward.hpp>
#include <kiln/rms_norm_forward.hpp>
#include <kiln/rms_norm_pair_backward.hpp>
#include <kiln/softmax_backward.hpp>

#include "kernels/mix_order_reduction/test_front_end_trials.hpp"

namespace {

using namespace kiln;
using namespace kiln::mix_order_reduction::testing;

// A misspelt or misplaced option or argument is a compile error.
template <class Op>
concept takes_offset = requires {
  Op{.n = 1, .offset = true};
};
template <class Op>
concept takes_eps = requires(Op op) {
  op.arguments({.rows = 1, .eps = 1e-5});
};
static_assert(takes_offset<RmsNormBackward> && takes_offset<RmsNormForward>);
static_assert(!takes_offset<LayerNormForward> && !takes_offset<RmsNormPairBackward>);
static_assert(takes_eps<RmsNormForward> && takes_eps<LayerNormForward>);
static_assert(!takes_eps<RmsNormBackward> && !takes_eps<Absmax>);

TEST_CASE("the front end of softmax_backward") {
  Trials trials;
  Memory m;
  const SoftmaxBackward::Arguments arguments{.rows = kRows,
                                             .y = m.at("y"),
                                             .dy = m.at("dy"),
                                             .dx = m.at("dx"),
                                             .dbias = m.at("dbias"),
                                             .y_stride = m.stride("y"),
                                             .dy_stride = m.stride("dy"),
                                             .dx_stride = m.stride("dx")};
  for (const DType x : kTypes)
    for (const Type dbias : kMaybe)
      for (const bool accumulate : {false, true})
        trials.add(SoftmaxBackward{.n = kN, .x = x, .dbias = dbias, .accumulate = accumulate},
                   "softmax_backward",
                   key("x", x) + or_default("dbias", dbias) + flag("accumulate", accumulate),
                   arguments,
                   m);
  CHECK(trials.count() == 3 * (4 + 3));
}

TEST_CASE("the front end of adaln_backward") {
  Trials trials;
  Memory m;
  const AdalnBackward::Arguments arguments{.rows = kRows,
                                           .dy = m.at("dy"),
                                           .x = m.at("x"),
                                           .mean = m.floats("mean"),
                                           .rstd = m.floats("rstd"),
                                           .scale = m.at("scale"),
                                           .residual = m.at("residual"),
                                           .dx = m.at("dx"),
                                           .dscale = m.at("dscale"),
                                           .dshift = m.at("dshift"),
                                           .dy_stride = m.stride("dy"),
                                           .x_stride = m.stride("x"),
                                           .residual_stride = m.stride("residual"),
                                           .dx_stride = m.stride("dx")};
  for (const DType x : kTypes)
    for (const Type scale : kMaybe)
      for (const Type dscale : kMaybe)
        for_flags(2, [&](auto set) {
          trials.add(AdalnBackward{.n = kN,
                                   .x = x,
                                   .scale = scale,
                                   .dscale = dscale,
                                   .accumulate = set(0),
                                   .residual = set(1)},
                     "adaln_backward",
                     key("x", x) + or_default("scale", scale) + or_default("dscale", dscale) +
                         flag("accumulate", set(0)) + flag("residual", set(1)),
                     arguments,
                     m);
        });
  CHECK(trials.count() == 3 * 3 * 3 * 4);
}

TEST_CASE("the front end of bias_backward") {
  Trials trials;
  Memory m;
  const BiasBackward::Arguments arguments{.rows = kRows,
                                          .dy = m.at("dy"),
                                          .row_sums = m.floats("rows"),
                                          .db = m.at("db"),
                                          .dy_stride = m.stride("dy")};
  for (const DType x : kTypes)
    for (const Type db : kMaybe)
      for (const bool accumulate : {false, true})
        trials.add(BiasBackward{.n = kN, .x = x, .db = db, .accumulate = accumulate},
                   "bias_backward",
                   key("x", x) + or_default("db", db) + flag("accumulate", accumulate),
                   arguments,
                   m);
  CHECK(trials.count() == 3 * 3 * 2);
}

TEST_CASE("the front end of rms_norm_pair_backward") {
  Trials trials;
  Memory m;
  const RmsNormPairBackward::Arguments arguments{.rows = kRows,
                                                 .dy1 = m.at("dy1"),
                                                 .dy2 = m.at("dy2"),
                                                 .x1 = m.at("x1"),
                                                 .x2 = m.at("x2"),
                                                 .rstd1 = m.floats("rstd1"),
                                                 .rstd2 = m.floats("rstd2"),
                                                 .w1 = m.at("w1"),
                                                 .w2 = m.at("w2"),
                                                 .residual1 = m.at("residual1"),
                                                 .residual2 = m.at("residual2"),
                                                 .dx1 = m.at("dx1"),
                                                 .dx2 = m.at("dx2"),
                                                 .dw1 = m.at("dw1"),
                                                 .dw2 = m.at("dw2"),
                                                 .dy1_stride = m.stride("dy1"),
                                                 .dy2_stride = m.stride("dy2"),
                                                 .x1_stride = m.stride("x1"),
                                                 .x2_stride = m.stride("x2"),
                                                 .residual1_stride = m.stride("residual1"),
                                                 .residual2_stride = m.stride("residual2"),
                                                 .dx1_stride = m.stride("dx1"),
                                                 .dx2_stride = m.stride("dx2")};
  for (const DType x : kTypes)
    for (const Type w : kMaybe)
      for (const Type dw : kMaybe)
        for_flags(2, [&](auto set) {
          trials.add(
              RmsNormPairBackward{
                  .n = kN, .x = x, .w = w, .dw = dw, .accumulate = set(0), .residual = set(1)},
              "rms_norm_pair_backward",
              key("x", x) + or_default("w", w) + or_default("dw", dw) + flag("accumulate", set(0)) +
                  flag("residual", set(1)),
              arguments,
              m);
        });
  CHECK(trials.count() == 3 * 3 * 3 * 4);
}

TEST_CASE("the front end of absmax") {
  Trials trials;
  Memory m;
  const Absmax::Arguments arguments{.rows = kRows,
                                    .x = m.at("x"),
                                    .row_maxima = m.floats("rows"),
                                    .column_maxima = m.floats("columns"),
                                    .x_stride = m.stride("x")};
  for (const DType x : kTypes)
    trials.add(Absmax{.n = kN, .x = x}, "absmax", key("x", x), arguments, m);
  CHECK(trials.count() == 3);
}

TEST_CASE("a front end's defaults are the signature's, and a stride of 0 is n") {
  CHECK(RmsNormForward{.n = 8}.signature() == Signature::parse("rms_norm_forward:n=8"));
  CHECK(LayerNormForward{.n = 8}.signature() == Signature::parse("layer_norm_forward:n=8"));
  CHECK(SoftmaxBackward{.n = 8}.signature() == Signature::parse("softmax_backward:n=8"));
  CHECK(AdalnBackward{.n = 8}.signature() == Signature::parse("adaln_backward:n=8"));
  CHECK(BiasBackward{.n = 8}.signature() == Signature::parse("bias_backward:n=8"));
  CHECK(RmsNormPairBackward{.n = 8}.signature() == Signature::parse("rms_norm_pair_backward:n=8"));
  CHECK(Absmax{.n = 8}.signature() == Signature::parse("absmax:n=8"));
  CHECK_THROWS_AS(Absmax{}.signature(), Error);
  Memory m;
  const Arguments packed = Absmax{.n = 8}.arguments({.rows = 2, .x = m.at("x")});
  CHECK(packed.find("x")->strides[0] == 8);
  CHECK(packed.find("rows") == nullptr);
}

}  // namespace
