// What the family promises beyond the conformance suite: rows dealt once, arguments refused.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <kiln/error.hpp>
#include <kiln/rms_norm_backward.hpp>

#include "kernels/mix_order_reduction/layout.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/parameters.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
namespace mix = kiln::mix_order_reduction;

Policy many_stages() {
  Policy policy;
  policy.allow_multi_stages = true;
  return policy;
}

PipelineChoice stages_of(const std::string& text, const Policy& policy) {
  const DeviceLimits& limits = limits_of(Arch::parse("sm_90a"));
  return std::get<Plan>(mix::plan(Signature::parse(text), limits, policy)).stages[0].pipeline;
}

TEST_CASE("the policy caps stages, and the plan says so") {
  const auto chosen = [&](Policy policy) {
    policy.candidate =
        "r1_t256_l2_c1_k0_w1_x1";  // passes read shared memory: stages are worth having
    return stages_of("rms_norm_backward:n=4096", policy);
  };
  CHECK(chosen({}).chosen == 1);
  CHECK(chosen({}).why.find("KILN_ALLOW_MULTI_STAGES") != std::string::npos);
  CHECK(chosen(many_stages()).chosen == 3);
  CHECK(chosen(many_stages()).why == "as asked");
  Policy lowered = many_stages();
  lowered.max_stages = 2;
  CHECK(chosen(lowered).chosen == 2);
  CHECK(chosen(lowered).why.find("KILN_MAX_STAGES") != std::string::npos);
  lowered.allow_multi_stages = false;
  lowered.max_stages = 8;
  CHECK(chosen(lowered).chosen == 1);
}

TEST_CASE(
    "where inputs wait in registers, stages stop when enough is under way, and the plan says so") {
  for (const auto& [text, stages] : {std::pair{"rms_norm_backward:n=4096", 1},
                                     std::pair{"rms_norm_backward:n=7168", 2},
                                     std::pair{"layer_norm_backward:n=16384", 2}}) {
    CAPTURE(text);
    const PipelineChoice many = stages_of(text, many_stages());
    CHECK(many.chosen == stages);
    if (many.chosen < many.asked)
      CHECK(many.why.find("more stages were slower") != std::string::npos);
    CHECK(stages_of(text, {}).chosen == 1);
  }
  // Two sums: rows one at a time with two stages, two with one.
  const DeviceLimits& limits = limits_of(Arch::parse("sm_90a"));
  const auto rows = [&](const Policy& policy) {
    const Signature signature = Signature::parse("layer_norm_backward:n=2880");
    return std::get<Plan>(mix::plan(signature, limits, policy)).stages[0].constant("rows_per_step");
  };
  CHECK(rows({}) == 2);
  CHECK(rows(many_stages()) == 1);
}

TEST_CASE("every row belongs to exactly one block, and blocks differ by a tile at most") {
  for (const std::int64_t n : {1, 8, 100, 128, 1000, 2048, 4096, 16384, 65536}) {
    for (const std::int64_t rows : {0, 1, 2, 13, 257, 1000, 5003, 20000}) {
      const mix::RowSplit split = mix::split_rows(rows, n);
      const int tile = mix::tile_rows(n);
      std::vector<int> seen(static_cast<std::size_t>(rows), 0);
      std::int64_t least = rows, most = 0;
      for (int block = 0; block < split.blocks; ++block) {
        const std::int64_t count = mix::block_rows(split, tile, block);
        least = std::min(least, count);
        most = std::max(most, count);
        std::int64_t before = -1;
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t row = mix::block_row(split, tile, block, i);
          REQUIRE(row > before);
          REQUIRE(row < rows);
          ++seen[static_cast<std::size_t>(row)];
          before = row;
        }
      }
      CAPTURE(n, rows);
      REQUIRE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
      REQUIRE(most - least <= tile);
    }
  }
}

TEST_CASE("every column has one place among partial sums, and other places belong to no column") {
  for (const std::int64_t n : {1, 8, 9, 1000, 1024, 1025, 1032, 2880, 4096, 8191, 32768}) {
    CAPTURE(n);
    const std::int64_t stride = mix::partial_stride(n);
    std::vector<int> seen(static_cast<std::size_t>(stride), 0);
    for (int column = 0; column < n; ++column) {
      const int place = mix::partial_place(n, column);
      REQUIRE(place < stride);
      REQUIRE(mix::partial_column(n, place) == column);
      // A thread moves 4 of them at once.
      REQUIRE(mix::partial_place(n, column / 4 * 4) == place / 4 * 4);
      ++seen[static_cast<std::size_t>(place)];
    }
    for (int place = 0; place < stride + 2 * mix::kPartialRun; ++place) {
      if (place < stride && seen[static_cast<std::size_t>(place)] == 1) continue;
      REQUIRE(mix::partial_column(n, place) >= n);
    }
  }
}

TEST_CASE("the order of sums depends on rows and n alone") {
  // Known answers: a change here changes the bits of every kernel, and needs a new emitter version.
  CHECK(mix::lanes(4096) == 512);
  CHECK(mix::lanes(2880) == 512);
  CHECK(mix::lanes(65536) == 1024);
  CHECK(mix::panels(16384) == 2);
  CHECK(mix::chains(128) == 16);
  CHECK(mix::chains(1024) == 8);
  CHECK(mix::chains(4096) == 1);
  CHECK(mix::row_blocks(16384, 4096) == 264);
  CHECK(mix::row_blocks(655360, 128) == 528);
  CHECK(mix::row_blocks(16384, 8192) == 132);
  CHECK(mix::row_blocks(100, 8192) == 25);
  CHECK(mix::row_blocks(0, 8192) == 1);
}

TEST_CASE("contradictions in a signature are refused, dependent defaults are filled in") {
  CHECK(Signature::parse("rms_norm_backward:n=8,x=f16").text() ==
        "rms_norm_backward:accumulate=0,dw=f16,gated=0,n=8,offset=0,residual=0,w=f16,x=f16");
  CHECK(Signature::parse("rms_norm_backward:n=8,w=bf16,accumulate=1").value("dw") == "f32");
  CHECK(Signature::parse("rms_norm_backward:n=8,w=none").value("dw") == "none");
  for (const std::string text : {"n=8,w=none,dw=f32",
                                 "n=8,w=none,accumulate=1",
                                 "n=8,w=none,offset=1",
                                 "n=8,dw=none",
                                 "n=0",
                                 "x=f32"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Signature::parse("rms_norm_backward:" + text), Error);
  }
}

TEST_CASE("the typed front end gives the canonical signature") {
  CHECK(RmsNormBackward{.n = 4096}.signature() == Signature::parse("rms_norm_backward:n=4096"));
  CHECK(RmsNormBackward{.n = 5, .x = DType::f32, .w = {}}.signature() ==
        Signature::parse("rms_norm_backward:n=5,x=f32,w=none"));
  CHECK(
      RmsNormBackward{.n = 5, .w = DType::f32, .accumulate = true, .residual = true}.signature() ==
      Signature::parse("rms_norm_backward:n=5,w=f32,accumulate=1,residual=1"));
}

// Addresses for bind, which never follows them.
struct Memory {
  static void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

  RmsNormBackward op{.n = 4096};
  RmsNormBackward::Arguments arguments{.rows = 64,
                                       .dy = at(0x10000000),
                                       .x = at(0x20000000),
                                       .rstd = static_cast<const float*>(at(0x30000000)),
                                       .w = at(0x40000000),
                                       .dx = at(0x50000000),
                                       .dw = at(0x60000000)};
  LaunchContext context{.sm_count = 132,
                        .ctas_per_sm = {2, 1, 1, 1},
                        .workspace = at(0x70000000),
                        .workspace_bytes = 1 << 24,
                        .counters = at(0x80000000)};

  CallList bind() const {
    const PlanResult result = mix::plan(op.signature(), limits_of(Arch::parse("sm_90a")), {});
    CallList calls;
    mix::bind(std::get<Plan>(result), op.arguments(arguments), context, calls);
    return calls;
  }
  mix::ReductionParameters parameters() const {
    mix::ReductionParameters p;
    const CallList calls = bind();
    std::copy_n(calls.calls[0].parameters.begin(), sizeof p, reinterpret_cast<std::byte*>(&p));
    return p;
  }
};

TEST_CASE("a pitch leads from a row of a chain to its next, and is nothing where there is none") {
  Memory memory;
  memory.arguments.rows = 2000;
  memory.arguments.dy_stride = 4096 + 8;
  const mix::ReductionParameters many = memory.parameters();
  const std::int64_t rows = many.split.blocks * mix::tile_rows(4096);
  REQUIRE(rows < 2000);
  const RmsNormBackward::Arguments& given = memory.arguments;
  for (const mix::MatrixView& input : many.inputs) {
    if (input.base != nullptr)
      CHECK(input.pitch == rows * (input.base == given.dy ? 4096 + 8 : 4096) * 2);
  }
  CHECK(many.outputs[0].pitch == rows * 4096 * 2);
  // A stride that no tensor of two rows could have, times the chains of narrow rows: no 64 bits.
  memory = {.op = {.n = 8}};
  memory.arguments.rows = 1;
  memory.arguments.dy_stride = memory.arguments.x_stride = memory.arguments.dx_stride =
      std::int64_t{1} << 58;
  const mix::ReductionParameters one = memory.parameters();
  CHECK(one.inputs[0].pitch == 0);
  CHECK(one.outputs[0].pitch == 0);
}

TEST_CASE("the fused kernel runs exactly when every row starts on 16 bytes, composed ones else") {
  const auto kernels = [](const Memory& memory) {
    std::vector<int> out;
    const CallList calls = memory.bind();
    for (int i = 0; i < calls.count; ++i)
      out.push_back(calls.calls[static_cast<std::size_t>(i)].stage);
    return out;
  };
  const std::vector<int> fused{0}, composed{1, 2, 3};
  CHECK(kernels(Memory{}) == fused);
  Memory memory;
  memory.arguments.dy_stride = 4097;
  CHECK(kernels(memory) == composed);
  memory = {};
  memory.arguments.dx_stride = 4096 + 8;
  CHECK(kernels(memory) == fused);
  memory = {};
  memory.arguments.dx = Memory::at(0x50000002);
  CHECK(kernels(memory) == composed);
  memory = {};
  memory.arguments.w = Memory::at(0x40000002);
  CHECK(kernels(memory) == composed);
  memory = {};
  memory.arguments.dw = Memory::at(0x60000002);  // written element by element
  CHECK(kernels(memory) == fused);
}

TEST_CASE("a width of no whole vectors keeps its path for any alignment in the fused kernel") {
  Memory memory;
  memory.op.n = 4095;
  CHECK(memory.parameters().vector_access == 0);
  memory.arguments.dy_stride = memory.arguments.x_stride = memory.arguments.dx_stride = 4096;
  CHECK(memory.parameters().vector_access == 1);
  CHECK(memory.parameters().row_vector_access == 1);
  memory.arguments.w = Memory::at(0x40000002);
  CHECK(memory.parameters().row_vector_access == 0);
}

TEST_CASE("the grid is the planned residency or less, whatever more would fit") {
  Memory many;
  many.arguments.rows = 1 << 14;
  many.context.ctas_per_sm = {3, 1, 1, 1};
  CHECK(many.bind().calls[0].grid[0] == 264);
  many.context.sm_count = 66;
  CHECK(many.bind().calls[0].grid[0] == 132);
  CHECK(many.bind().calls[0].cooperative);
}

TEST_CASE("a cluster shares a wide row, and the grid is whole clusters that the device holds") {
  Memory wide;
  wide.op.n = 32768;
  wide.arguments.rows = 1 << 10;
  wide.context.ctas_per_sm = {1, 1, 1, 1};
  wide.context.clusters = {66, 0, 0, 0};
  CHECK(wide.bind().calls[0].cluster_ctas == 2);
  CHECK(wide.bind().calls[0].grid[0] == 132);
  wide.context.clusters = {60, 0, 0, 0};  // GPCs with an odd number of SMs
  CHECK(wide.bind().calls[0].grid[0] == 120);
  wide.context.sm_count = 66;
  CHECK(wide.bind().calls[0].grid[0] == 66);
  const Signature signature = wide.op.signature();
  CHECK(
      std::holds_alternative<Rejection>(mix::plan(signature, limits_of(Arch::parse("sm_80")), {})));
}

TEST_CASE("rows of two matrices may interleave in one buffer, but not touch") {
  Memory interleaved;
  interleaved.arguments.x = Memory::at(0x20000000);
  interleaved.arguments.dx = Memory::at(0x20000000 + 4096 * 2);
  interleaved.arguments.x_stride = interleaved.arguments.dx_stride = 8192;
  CHECK_NOTHROW(interleaved.bind());
  interleaved.arguments.dx = Memory::at(0x20000000 + 4096 * 2 - 16);
  CHECK_THROWS_AS(interleaved.bind(), Error);
}

TEST_CASE("the reference is right where the answer is known by hand") {
  // x = rstd = w = 1: xh = 1, g = dy; dx = dy - mean(dy), dw = column sums of dy.
  const Signature signature = Signature::parse("rms_norm_backward:n=4,x=f32");
  const std::vector<HostTensor> inputs{{"dy", {2, 4}, {1, 2, 3, 6, 0, 0, 0, 4}},
                                       {"x", {2, 4}, std::vector<double>(8, 1.0)},
                                       {"rstd", {2}, {1, 1}},
                                       {"w", {4}, std::vector<double>(4, 1.0)}};
  const std::vector<Expected> expected = mix::reference(signature, 2, inputs);
  CHECK(expected.at(0).values == std::vector<double>{-2, -1, 0, 3, -1, -1, -1, 3});
  CHECK(expected.at(1).values == std::vector<double>{1, 2, 3, 10});
  // With a mean of 1 too: xh = 0, dw = 0, db = column sums of dy.
  std::vector<HostTensor> layer = inputs;
  layer.push_back({"mean", {2}, {1, 1}});
  const std::vector<Expected> made =
      mix::reference(Signature::parse("layer_norm_backward:n=4,x=f32"), 2, layer);
  CHECK(made.at(0).values == std::vector<double>{-2, -1, 0, 3, -1, -1, -1, 3});
  CHECK(made.at(1).values == std::vector<double>(4, 0.0));
  CHECK(made.at(2).values == std::vector<double>{1, 2, 3, 10});
  for (const double bound : expected[0].bounds) CHECK((bound > 0 && bound < 1e-4));
}

}  // namespace
