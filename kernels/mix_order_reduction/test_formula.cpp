// Generated device code: what the composed kernels are made from, and how passes are dealt.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/composed_source.hpp"
#include "kernels/mix_order_reduction/formula.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
namespace mix = kiln::mix_order_reduction;

TEST_CASE("composed.cu is what the descriptions give") {
  const std::string path = KILN_SOURCE_DIR "/kernels/mix_order_reduction/composed.cu";
  const std::string source = mix::composed_source();
  const char* update = std::getenv("KILN_UPDATE_GOLDENS");
  if (update != nullptr && std::string(update) == "1") std::ofstream(path) << source;
  std::ifstream in(path);
  const std::string file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  CHECK(file == source);
}

mix::Program program_of(const std::string& inputs, const std::string& formula) {
  const std::string json = R"({"version": 1, "op": "t", "inputs": [)" + inputs +
                           R"(], "formula": [)" + formula +
                           R"(], "outputs": [{"name": "y", "shape": "matrix", "type": "f32"},
                                             {"name": "z", "shape": "row", "type": "f32"}]})";
  return mix::specialise(mix::parse_description(json, "t"), {"t", {}});
}

const std::string kX = R"({"name": "x", "shape": "matrix", "type": "f32"})";
const std::string kB = R"(, {"name": "b", "shape": "matrix", "type": "f32"})";

TEST_CASE("a formula's device code spells out every rounding") {
  const mix::Program p =
      program_of(kX + kB,
                 R"code("s = row_sum(x * b)", "a = max(x, 0.5) / sqrt(b)", "h = f16(a)",
             "y = select(a < s, -abs(h), b - 3)", "z = column_sum(x)")code");
  const std::string text = mix::fused_formula(p, mix::shape_of(p));
  for (const std::string wanted : {"s[0] = __fmaf_rn(m[0], m[1], s[0]);",
                                   "q[0] = __fadd_rn(q[0], m[0]);",
                                   "kiln::maximum(m[0], 0x1p-1f)",
                                   "__fdiv_rn(",
                                   "__fsqrt_rn(m[1])",
                                   "kiln::f16::load(kiln::f16::round(",
                                   "kiln::absolute(",
                                   "__fsub_rn(m[1], 0x1.8p+1f)",
                                   "const bool ",
                                   " < c[0]"}) {
    CAPTURE(wanted, text);
    CHECK(text.find(wanted) != std::string::npos);
  }
}

TEST_CASE("matrices that only an output needs are not kept for the sums") {
  const mix::Program p =
      program_of(kX + kB, R"code("s = row_sum(x)", "y = b * s", "z = column_sum(x)")code");
  const mix::Shape shape = mix::shape_of(p);
  CHECK(shape.matrices.size() == 2);
  CHECK(shape.kept_matrices == 1);
}

TEST_CASE("reductions go to as few passes as their needs and kinds allow") {
  const auto passes = [](const std::string& formula) {
    const mix::Shape shape =
        mix::shape_of(program_of(kX, formula + R"code(, "z = column_sum(x)")code"));
    std::vector<std::size_t> out;
    for (const mix::RowPass& pass : shape.passes) out.push_back(pass.sums.size());
    return out;
  };
  using Sizes = std::vector<std::size_t>;
  CHECK(passes(R"code("y = x * 2")code") == Sizes{});
  CHECK(passes(R"code("s = row_sum(x)", "t = row_sum(x * x)", "y = x * s + t")code") == Sizes{2});
  CHECK(passes(R"code("s = row_sum(x)", "t = row_max(x)", "y = x * s + t")code") == Sizes{1, 1});
  CHECK(passes(R"code("s = row_sum(x)", "t = row_sum(x * s)", "y = x * t")code") == Sizes{1, 1});
  CHECK(passes(R"code("s = row_max(x)", "t = row_sum(exp(x - s))", "u = row_min(x)",
                      "y = exp(x - s) / t + u")code") == Sizes{1, 1, 1});
}

TEST_CASE("a column sum is added in the first pass that knows what it adds") {
  const auto sum_pass = [](const std::string& formula) {
    return mix::shape_of(program_of(kX, formula)).sum_pass.at(0);
  };
  CHECK(sum_pass(R"code("s = row_sum(x)", "y = x * s", "z = column_sum(x)")code") == 0);
  CHECK(sum_pass(R"code("s = row_sum(x)", "y = x * s", "z = column_sum(y)")code") == 1);
  CHECK(sum_pass(R"code("s = row_sum(x)", "t = row_sum(x * s)", "y = x * t",
                        "z = column_sum(x * s)")code") == 1);
}

TEST_CASE("values of a row are kept once, and only those that a later pass or an element needs") {
  const mix::Program p = program_of(kX,
                                    R"code("m = row_mean(x)", "v = row_mean((x - m) * (x - m))",
                                           "r = rsqrt(v + 0.5)", "y = (x - m) * r",
                                           "z = column_sum(y)")code");
  const mix::Shape shape = mix::shape_of(p);
  CHECK(shape.row_values.size() == 2);  // m and r
  CHECK(shape.last_sums());
  const std::string text = mix::fused_formula(p, shape);
  CHECK(text.find("q[0] = __fadd_rn(q[0], t") != std::string::npos);
}

TEST_CASE("more than kernels hold is refused with its number") {
  const auto refused = [](const std::string& inputs, const std::string& formula) {
    try {
      static_cast<void>(mix::shape_of(program_of(inputs, formula)));
    } catch (const Error& error) {
      return error.detail;
    }
    return std::string("served");
  };
  std::string inputs = kX, sum = "x", sums, total = "x";
  for (int i = 0; i < 8; ++i) {
    inputs += R"(, {"name": "m)" + std::to_string(i) + R"(", "shape": "matrix", "type": "f32"})";
    sum += " + m" + std::to_string(i);
  }
  CHECK(refused(inputs, "\"y = " + sum + "\", \"z = column_sum(x)\"")
            .find("9 input matrices; 8 are served") != std::string::npos);
  for (int i = 0; i < 5; ++i) {
    const std::string n = std::to_string(i);
    sums += "\"s" + n + " = row_sum(x * " + std::to_string(i + 2) + ")\", ";
    total += " + s" + n;
  }
  CHECK(refused(kX, sums + "\"y = " + total + "\", \"z = column_sum(x)\"")
            .find("5 row reductions of one kind and pass; 4 are served") != std::string::npos);
}

}  // namespace
