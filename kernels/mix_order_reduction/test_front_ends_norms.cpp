// The typed front ends of single norms, with every combination of options.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kiln/error.hpp>
#include <kiln/layer_norm_backward.hpp>
#include <kiln/layer_norm_forward.hpp>
#include <kiln/rms_norm_backward.hpp>
#include <kiln/rms_norm_forward.hpp>

#include "kernels/mix_order_reduction/test_front_end_trials.hpp"

namespace {

using namespace kiln;
using namespace kiln::mix_order_reduction::testing;

TEST_CASE("the front end of rms_norm_backward") {
  Trials trials;
  Memory m;
  const RmsNormBackward::Arguments arguments{.rows = kRows,
                                             .dy = m.at("dy"),
                                             .x = m.at("x"),
                                             .rstd = m.floats("rstd"),
                                             .w = m.at("w"),
                                             .residual = m.at("residual"),
                                             .z = m.at("z"),
                                             .dx = m.at("dx"),
                                             .dz = m.at("dz"),
                                             .dw = m.at("dw"),
                                             .dy_stride = m.stride("dy"),
                                             .x_stride = m.stride("x"),
                                             .residual_stride = m.stride("residual"),
                                             .dx_stride = m.stride("dx"),
                                             .z_stride = m.stride("z"),
                                             .dz_stride = m.stride("dz")};
  for (const DType x : kTypes)
    for (const Type w : kMaybe)
      for (const Type dw : kMaybe)
        for_flags(4, [&](auto set) {
          trials.add(RmsNormBackward{.n = kN,
                                     .x = x,
                                     .w = w,
                                     .dw = dw,
                                     .accumulate = set(0),
                                     .residual = set(1),
                                     .offset = set(2),
                                     .gated = set(3)},
                     "rms_norm_backward",
                     key("x", x) + or_none("w", w) + or_default("dw", dw) +
                         flag("accumulate", set(0)) + flag("residual", set(1)) +
                         flag("offset", set(2)) + flag("gated", set(3)),
                     arguments,
                     m);
        });
  // Types of x, w and dw, and flags; without a weight neither dw, accumulate nor offset.
  CHECK(trials.count() == 3 * (3 * 3 * 16 + 4));
}

TEST_CASE("the front end of layer_norm_backward") {
  using Gradient = LayerNormBackward::Gradient;
  using Maybe = std::optional<Gradient>;
  const std::map<Gradient, std::string> names{{Gradient::f32, "f32"},
                                              {Gradient::f16, "f16"},
                                              {Gradient::bf16, "bf16"},
                                              {Gradient::none, "none"}};
  std::vector<Maybe> all{std::nullopt};
  for (const auto& [gradient, name] : names) all.emplace_back(gradient);
  const auto said = [&](const std::string& name, Maybe gradient) {
    return gradient ? "," + name + "=" + names.at(*gradient) : "";
  };
  Trials trials;
  Memory m;
  const LayerNormBackward::Arguments arguments{.rows = kRows,
                                               .dy = m.at("dy"),
                                               .x = m.at("x"),
                                               .mean = m.floats("mean"),
                                               .rstd = m.floats("rstd"),
                                               .w = m.at("w"),
                                               .residual = m.at("residual"),
                                               .dx = m.at("dx"),
                                               .dw = m.at("dw"),
                                               .db = m.at("db"),
                                               .dy_stride = m.stride("dy"),
                                               .x_stride = m.stride("x"),
                                               .residual_stride = m.stride("residual"),
                                               .dx_stride = m.stride("dx")};
  for (const DType x : kTypes)
    for (const Type w : kMaybe)
      for (const Maybe dw : all)
        for (const Maybe db : all)
          for_flags(2, [&](auto set) {
            trials.add(LayerNormBackward{.n = kN,
                                         .x = x,
                                         .w = w,
                                         .dw = dw,
                                         .db = db,
                                         .accumulate = set(0),
                                         .residual = set(1)},
                       "layer_norm_backward",
                       key("x", x) + or_none("w", w) + said("dw", dw) + said("db", db) +
                           flag("accumulate", set(0)) + flag("residual", set(1)),
                       arguments,
                       m);
          });
  CHECK(trials.count() > 200);
}

TEST_CASE("the front end of rms_norm_forward") {
  Trials trials;
  Memory m;
  const RmsNormForward::Arguments arguments{.rows = kRows,
                                            .x = m.at("x"),
                                            .residual = m.at("residual"),
                                            .w = m.at("w"),
                                            .eps = kEps,
                                            .y = m.at("y"),
                                            .h = m.at("h"),
                                            .rstd = m.floats("rstd"),
                                            .x_stride = m.stride("x"),
                                            .residual_stride = m.stride("residual"),
                                            .y_stride = m.stride("y"),
                                            .h_stride = m.stride("h")};
  for (const DType x : kTypes)
    for (const Type w : kMaybe)
      for_flags(2, [&](auto set) {
        trials.add(
            RmsNormForward{.n = kN, .x = x, .w = w, .offset = set(0), .residual = set(1)},
            "rms_norm_forward",
            key("x", x) + or_none("w", w) + flag("offset", set(0)) + flag("residual", set(1)),
            arguments,
            m);
      });
  CHECK(trials.count() >= 3 * (3 * 4 + 2));
}

TEST_CASE("the front end of layer_norm_forward") {
  Trials trials;
  Memory m;
  const LayerNormForward::Arguments arguments{.rows = kRows,
                                              .x = m.at("x"),
                                              .residual = m.at("residual"),
                                              .w = m.at("w"),
                                              .b = m.at("b"),
                                              .eps = kEps,
                                              .y = m.at("y"),
                                              .h = m.at("h"),
                                              .mean = m.floats("mean"),
                                              .rstd = m.floats("rstd"),
                                              .x_stride = m.stride("x"),
                                              .residual_stride = m.stride("residual"),
                                              .y_stride = m.stride("y"),
                                              .h_stride = m.stride("h")};
  for (const DType x : kTypes)
    for (const Type w : kMaybe)
      for (const Type b : kMaybe)
        for (const bool residual : {false, true})
          trials.add(LayerNormForward{.n = kN, .x = x, .w = w, .b = b, .residual = residual},
                     "layer_norm_forward",
                     key("x", x) + or_none("w", w) + or_none("b", b) + flag("residual", residual),
                     arguments,
                     m);
  CHECK(trials.count() == 3 * 4 * 4 * 2);
}

}  // namespace
