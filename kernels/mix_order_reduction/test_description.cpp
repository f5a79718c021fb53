// Descriptions: what is read from JSON, and each mistake refused with its place.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/description.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/program.hpp"
#include "kernels/mix_order_reduction/registry.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
namespace mix = kiln::mix_order_reduction;

const std::string kInputs =
    R"([{"name": "x", "shape": "matrix", "type": "t"},
        {"name": "w", "shape": "row", "type": "w", "given": "w"},
        {"name": "r", "shape": "column", "type": "f32"}])";
const std::string kOutputs =
    R"([{"name": "y", "shape": "matrix", "type": "t"},
        {"name": "dw", "shape": "row", "type": "f32"}])";

// Statements are separated by semicolons.
std::string document(const std::string& formula,
                     const std::string& inputs = kInputs,
                     const std::string& outputs = kOutputs) {
  std::string list;
  for (std::size_t at = 0; at <= formula.size();) {
    const std::size_t end = std::min(formula.find(';', at), formula.size());
    list += (list.empty() ? "\"" : ", \"") + formula.substr(at, end - at) + "\"";
    at = end + 1;
  }
  return R"({"version": 1, "op": "test", "inputs": )" + inputs + R"(, "formula": [)" + list +
         R"(], "outputs": )" + outputs + "}";
}

std::string error_of(const std::string& json) {
  try {
    static_cast<void>(mix::parse_description(json, "d"));
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::invalid_source);
    return error.detail;
  }
  return "no error";
}

const std::string kGood = "g = given(w, x * w, x);y = g * r;dw = column_sum(x * r)";

TEST_CASE("a description says what it holds") {
  const mix::Description d = mix::parse_description(document(kGood), "d");
  CHECK(d.op == "test");
  REQUIRE(d.inputs.size() == 3);
  CHECK(d.inputs[1].extent == mix::Extent::row);
  CHECK(d.inputs[1].given == "w");
  REQUIRE(d.formula.size() == 3);
  CHECK(mix::to_string(d.formula[0]) == "g = given(w, (x * w), x)");
  CHECK(d.place(2) == "d, formula 3");
  CHECK(d.outputs[1].name == "dw");
}

TEST_CASE("a formula's mistake is refused with its place and what is known") {
  const std::string rest = ";y = x * r;dw = column_sum(x)";
  const std::string sum = ";dw = column_sum(x)";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"gate = x * r;y = given(w, w, 1) * gates" + sum,
       "d, formula 2, column 22: \"gates\" is not defined before this (did you mean \"gate\"?)"},
      {"g = y" + rest, "d, formula 1, column 5: \"y\" is not defined before this"},
      {"g = sqr(x)" + rest,
       "d, formula 1, column 5: there is no function \"sqr\" (did you mean \"sqrt\"?)"},
      {"g = fma(x, r)" + rest, "d, formula 1, column 5: \"fma\" takes 3 operands, not 2"},
      {"g = x < r" + rest, "d, formula 1, column 7: a condition is not a value"},
      {"g = (x < r) * 2" + rest, "d, formula 1, column 8: a condition is not a value"},
      {"g = select(x, x, r)" + rest, "d, formula 1, column 12: select() needs a condition"},
      {"g = 2 * row_sum(x)" + rest,
       "d, formula 1, column 9: a reduction is a statement of its own"},
      {"g = row_sum(r)" + rest,
       "d, formula 1, column 5: \"row_sum\" needs a value that varies over rows and columns; this "
       "one is a column"},
      {"g = row_sum(x, r)" + rest, "d, formula 1, column 5: \"row_sum\" takes 1 operand, not 2"},
      {"g = cast(w, x)" + rest,
       "d, formula 1, column 10: cast() needs a key that is a type first; there are t"},
      {"g = given(x, r, 1)" + rest,
       "d, formula 1, column 11: given() needs a key first; the keys are t, w"},
      {"x = r" + rest, "d, formula 1: \"x\" is defined twice"},
      {"max = r" + rest, "d, formula 1: \"max\" is a function"},
      {"g = x" + rest, "d, formula 1: \"g\" is used nowhere"},
      {"y = x * r" + sum, "d, input 2: \"w\" is used nowhere"},
      {"y = x * w * r" + sum, "d, output 1: \"y\" needs what is there only with w"},
      {"g = w + 1;y = x * g * r" + sum, "d, output 1: \"y\" needs what is there only with w"},
      {"y = given(w, r, w) * x" + sum, "d, output 1: \"y\" needs what is there only with w"},
      {"y = given(w, w, 1) * x * r", "d, output 2: no statement defines \"dw\""},
      {"y = given(w, w, 1) * x * r;dw = row_sum(x)",
       "d, output 2: \"dw\" is said to be a row, and its statement makes a column"},
      {"y = given(w, w, 1) * x * r;dw = given(w, w, 1)",
       "d, output 2: \"dw\" must be a column reduction itself"},
      {"s = row_mean(x * r);y = s;dw = column_sum(given(w, w, 1) * x)",
       "d, output 1: \"y\" is said to be a matrix, and its statement makes a column"},
      {"y = given(w, w, 1) * x * r;c = column_sum(x);dw = c + 1",
       "d, formula 3, column 6: \"c\" is known only when every row is done"},
      {"y = x * r;dw = column_sum(x) * 2", "d, formula 2, column 6: a reduction is a statement"},
      {"y = x +" + sum, "d, formula 1, column 8: expected"},
  };
  for (const auto& [formula, wanted] : cases) {
    CAPTURE(formula, error_of(document(formula)));
    CHECK(error_of(document(formula)).find(wanted) != std::string::npos);
  }
}

TEST_CASE("a statement may need what its user guards") {
  const std::string guarded =
      "g = w + 1;y = given(w, x * g, x) * r;dw = column_sum(x * given(w, g, r))";
  CHECK(error_of(document(guarded)) == "no error");
}

TEST_CASE("a document's mistake is refused with its place and what is known") {
  const auto input = [](const std::string& tensor) { return document(kGood, "[" + tensor + "]"); };
  const auto output = [](const std::string& tensor) {
    return document(kGood, kInputs, "[" + tensor + "]");
  };
  const auto with_keys = [](const std::string& keys) {
    return R"({"keys": [)" + keys + "], " + document(kGood).substr(1);
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "d: line 1, column 1: this is not valid JSON"},
      {"{\n  \"version\": 1,,\n}", "d: line 2, column 16: this is not valid JSON"},
      {"[]", "d: an object is needed here"},
      {R"({"version": 1, "version": 1})", "d: key \"version\" is given twice"},
      {R"({"version": 2})", "d: \"version\" must be 1"},
      {R"({"version": 1})", "d: \"op\" is missing"},
      {R"({"version": 1, "op": "a", "formule": []})",
       "d: there is no key \"formule\" (did you mean \"formula\"?)"},
      {R"({"version": 1, "op": "a b"})", "d: \"op\" is \"a b\": a name is"},
      {R"({"version": 1, "op": 3})", "d: \"op\" must be a string"},
      {input(""), "d: \"inputs\" holds 0; 1 to 16 are served"},
      {document(kGood, "3"), "d: \"inputs\" must be a list"},
      {input(R"({"name": "x"})"), "d, input 1: \"shape\" is missing"},
      {input(R"({"name": "x", "shape": "rows", "type": "t"})"),
       "d, input 1: \"shape\" is \"rows\" (did you mean \"row\"?); there are matrix, row, column"},
      {input(R"({"name": "x", "shape": "row", "type": "i32"})"), "d, input 1: \"x\" is i32"},
      {input(R"({"name": "x", "shape": "row", "type": "t", "accumulate": "a"})"),
       "d, input 1: there is no key \"accumulate\""},
      {output(R"({"name": "x", "shape": "matrix", "type": "t"})"),
       "d, output 1: \"x\" is defined twice"},
      {output(R"({"name": "y", "shape": "matrix", "type": "t", "accumulate": "a"})"),
       "d, output 1: only column sums accumulate"},
      {input(R"({"name": "x", "shape": "matrix", "type": "w"},
                {"name": "w", "shape": "row", "type": "w", "given": "w"},
                {"name": "r", "shape": "column", "type": "f32"})"),
       "d, input 1: \"w\" makes tensors present"},
      {input(R"({"name": "x", "shape": "row", "type": "t"})"),
       "d: no input is a matrix; the first one gives the number of rows"},
      {input(R"({"name": "x", "shape": "matrix", "type": "t", "given": "g"})"),
       "d, input 1: \"x\" gives the number of rows, so it must always be there"},
      {input(R"({"name": "x", "shape": "scalar", "type": "t"})"),
       "d, input 1: \"x\" is a scalar; its type must be f32"},
      {input(R"({"name": "x", "shape": "column", "type": "f16"})"),
       "d, input 1: \"x\" is a column; its type must be f32"},
      {input(R"({"name": "x", "shape": "matrix", "type": "n"})"), "d: \"n\" cannot be a key"},
      {output(R"({"name": "y", "shape": "scalar", "type": "f32"})"),
       "d, output 1: \"shape\" is \"scalar\""},
      {output(R"({"name": "y", "shape": "row", "type": "t", "accumulate": "t"})"),
       "d: \"t\" is both a type and the flag of \"accumulate\""},
      {with_keys(R"({"name": "k"}, {"name": "k"})"), "d, key 2: \"k\" is declared twice"},
      {with_keys(R"({"name": "k"})"), "d, key 1: \"k\" is used nowhere"},
      {with_keys(R"({"name": "t", "default": "w"})"),
       "d, key \"t\": the default \"w\" is no type, nor a key that is a type"},
      {R"({"version": )" + std::string(100, '[') + std::string(100, ']') + "}",
       "d: the JSON is nested too deep"},
      {R"({"version": 1e400})", "d: a number is too large"},
      {R"({"version": 1, "no": [-1.5e9999999999]})", "d: a number is too large"},
      {std::string(100'000, ' '), "d: a description has at most 65536 bytes"},
      {R"({"version": 1, "op": "a", "inputs": )" + kInputs + R"(, "formula": [3]})",
       "d, formula 1: a statement is a string"},
  };
  for (const auto& [json, wanted] : cases) {
    CAPTURE(json.substr(0, 200), error_of(json));
    CHECK(error_of(json).find(wanted) != std::string::npos);
  }
}

TEST_CASE("every op of the family has a description, and its keys are the op's") {
  const Family& family = find_family("rms_norm_backward");
  for (const OpSpec* spec : family.ops()) {
    const OpSpec& op = *spec;
    const mix::Description& d = mix::description_of(op.name);
    CHECK(op.summary == d.summary);
    for (const auto* tensors : {&d.inputs, &d.outputs}) {
      for (const mix::TensorDescription& t : *tensors) {
        for (const std::string& key : {t.type, t.given, t.accumulate}) {
          INFO(key);
          const bool known = std::any_of(
              op.keys.begin(), op.keys.end(), [&](const KeySpec& one) { return one.name == key; });
          CHECK((key.empty() || parse_dtype(key) || known));
        }
      }
    }
  }
  CHECK_THROWS_AS(mix::description_of("no_such_op"), Error);
}

TEST_CASE("a signature's keys choose types, tensors and branches") {
  const auto program = [](const std::string& keys) {
    return mix::specialise(mix::description_of("rms_norm_backward"),
                           Signature::parse("rms_norm_backward:n=8," + keys));
  };
  const mix::Program whole = program("x=f16,w=f32,residual=1,accumulate=1");
  REQUIRE(whole.inputs.size() == 5);
  CHECK(whole.inputs[0].type == DType::f16);
  CHECK(whole.inputs[4].type == DType::f32);
  REQUIRE(whole.outputs.size() == 2);
  CHECK(whole.outputs[1].tensor.accumulate);
  CHECK(whole.phases == 1);
  CHECK(mix::flops_per_element(whole) == 10);
  const mix::Program least = program("w=none");
  CHECK(least.inputs.size() == 3);
  CHECK(least.outputs.size() == 1);
  CHECK(least.column_sums.empty());
  CHECK(mix::flops_per_element(program("w=bf16")) == 9);
}

mix::Program without_weight(const std::string& formula) {
  Signature signature;
  signature.op = "test";
  signature.keys = {{"t", "f32"}, {"w", "none"}};
  return mix::specialise(mix::parse_description(document(formula), "d"), signature);
}

TEST_CASE("what is written twice is computed once, and what no output needs not at all") {
  const mix::Program p = without_weight(
      "a = x * r;b = x * r + given(w, w, 0);z = x * given(w, w, 2);y = a + given(w, z, x * r);"
      "dw = column_sum(b)");
  // x, r, x * r, (x * r) + (x * r), 0, (x * r) + 0.
  CHECK(p.nodes.size() == 6);
  CHECK(p.phases == 0);
}

TEST_CASE("a sum that needs another sum is a pass of its own") {
  const mix::Program p = without_weight(
      "m = row_mean(x);v = row_mean((x - m) * (x - m));"
      "y = (x - m) * rsqrt(v + 1e-5) * given(w, w, 1) * r;dw = column_sum(x)");
  CHECK(p.phases == 2);
}

}  // namespace
