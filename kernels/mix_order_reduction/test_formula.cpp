// Generated device code: what the composed kernels are made from, and what no kernel serves.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

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
                                   " < s[0]"}) {
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

TEST_CASE("what no kernel serves is refused by name") {
  const auto refused = [](const mix::Program& program) {
    try {
      static_cast<void>(mix::shape_of(program));
    } catch (const Error& error) {
      return error.detail;
    }
    return std::string("served");
  };
  const std::string sum = R"code(, "z = column_sum(x)")code";
  CHECK(refused(program_of(kX, R"code("s = row_sum(x)", "y = x * s")code" + sum)) == "served");
  CHECK(refused(program_of(
            kX, R"code("s = row_sum(x)", "t = row_sum(x * s)", "y = x * t")code" + sum)) ==
        "no kernel serves a sum that needs another sum yet");
  CHECK(
      refused(program_of(kX, R"code("y = x * 2")code" + sum)).find("a reduction with 0 row sums") !=
      std::string::npos);
  CHECK(refused(program_of(kX, R"code("s = row_sum(x)", "y = x * s", "z = column_sum(y)")code"))
            .find("column sum of what row sums give") != std::string::npos);
  CHECK(refused(program_of(kX + R"(, {"name": "b", "shape": "matrix", "type": "f16"})",
                           R"code("s = row_sum(x * b)", "y = x * s")code" + sum))
            .find("matrices of several types") != std::string::npos);
}

}  // namespace
