// The JSON form of signatures.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>
#include <kiln/signature.hpp>

#include <random>
#include <vector>

#include "src/core/op_spec.hpp"
#include "tests/core_ops.hpp"
#include "tests/testing.hpp"

using namespace kiln;
using kiln::testing::contains;
using kiln::testing::ops;

namespace {

Signature parse_json(std::string_view json) { return parse_signature_json(json, ops()); }

Error refusal(std::string_view json) {
  try {
    (void)parse_json(json);
  } catch (const Error& error) {
    return error;
  }
  return Error{ErrorCode::internal, "nothing was refused"};
}

}  // namespace

TEST_CASE("text and JSON give the same signature, and JSON round-trips") {
  const Signature signature = parse_signature("norm_backward:n=4096,accumulate=1", ops());
  CHECK(signature.json() ==
        R"({"op":"norm_backward","accumulate":1,"dw":"f32","n":4096,"w":"bf16","x":"bf16"})");
  CHECK(parse_json(signature.json()) == signature);
  for (const std::string_view json : {
           R"({"n": 4096, "accumulate": true, "op": "norm_backward"})",
           R"({"op": "norm_backward", "n": "4096", "accumulate": "on"})",
           R"( { "op" : "norm_backward", "n" : 4096, "accumulate" : 1, "x": "bf16" } )",
           R"({"op": "norm_backward", "\u006e": 4096, "accumulate": true})",
       }) {
    INFO(json);
    CHECK(parse_json(json) == signature);
  }
  CHECK(parse_json(R"({"op": "scale", "rows": 9223372036854775807})").integer("rows") == INT64_MAX);
}

TEST_CASE("JSON that is no signature is refused with what is wrong") {
  struct Case {
    std::string json;
    std::string piece;
  };
  for (const Case& item : {
           Case{R"([1])", "an array"},
           Case{R"("norm_backward")", "not an object"},
           Case{R"(7)", "not an object"},
           Case{R"(null)", "not an object"},
           Case{"", "not valid JSON"},
           Case{R"({)", "column"},
           Case{R"({"op": "scale"} trailing)", "not valid JSON"},
           Case{R"({"op": "scale", "rows": NaN})", "not valid JSON"},
           Case{R"({"op": "scale", "rows": Infinity})", "not valid JSON"},
           Case{R"({"op": "scale", "rows": 01})", "not valid JSON"},
           Case{R"({"op": "scale", 'rows': 1})", "not valid JSON"},
           Case{"{\"op\": \"scale\xff\"}", "not valid JSON"},
           Case{R"({"op": "scale", "rows": {"a": 1}})", "\"rows\" holds an object"},
           Case{R"({"op": "scale", "rows": [1]})", "\"rows\" holds an array"},
           Case{R"({"op": "scale", "rows": null})", "\"rows\" holds null"},
           Case{R"({"op": "scale", "rows": 1.0})", "not an integer"},
           Case{R"({"op": "scale", "rows": 1e3})", "not an integer"},
           Case{R"({"op": "scale", "rows": 18446744073709551616})", "does not fit"},
           Case{R"({"op": "scale", "rows": 9223372036854775808})", "does not fit"},
           Case{R"({"op": "scale", "rows": -1})", "out of range"},
           Case{R"({"op": "scale", "rows": 0})", "out of range"},
           Case{R"({"op": "scale", "rows": true})", "boolean"},
           Case{R"({"op": "scale", "rows": ""})", "no value"},
           Case{R"({"op": "scale", "rows": 1, "rows": 1})", "twice"},
           Case{R"({"op": "scale", "op": "scale"})", "twice"},
           Case{R"({"op": 1})", "not a string"},
           Case{R"({"op": ["scale"]})", "an array"},
           Case{R"({"rows": 1})", "no \"op\""},
           Case{R"({"op": "scale", "row": 1})", "did you mean \"rows\""},
           Case{R"({"op": "norm_backward", "n": 8, "x": true})", "boolean"},
       }) {
    const Error error = refusal(item.json);
    INFO(item.json << " gave " << error.detail);
    CHECK(error.code == ErrorCode::invalid_signature);
    CHECK_THAT(error.detail, contains(item.piece));
  }
  CHECK(refusal(R"({"op": "zebra"})").code == ErrorCode::unknown_op);
}

TEST_CASE("deep nesting and huge JSON are refused without a deep stack") {
  CHECK(refusal(std::string(60000, '[')).code == ErrorCode::invalid_signature);
  std::string deep = R"({"op": )";
  for (int i = 0; i < 10000; ++i) deep += "{\"a\":";
  CHECK(refusal(deep).code == ErrorCode::invalid_signature);
  CHECK_THAT(refusal(std::string(1 << 20, ' ')).detail, contains("too long"));
}

TEST_CASE("a signature with any bytes prints as valid JSON") {
  const Signature odd{"o\"p\\\n\xff", {{"k\t", "v\x01\""}, {"n", "007"}, {"m", "7"}}};
  CHECK(odd.json() ==
        "{\"op\":\"o\\\"p\\\\\\n\xef\xbf\xbd\",\"k\\t\":\"v\\u0001\\\"\",\"n\":\"007\",\"m\":7}");
}

TEST_CASE("no mutation of JSON crashes") {
  std::mt19937 random(11);
  const std::string good = R"({"op":"norm_backward","accumulate":1,"dw":"f32","n":4096})";
  const std::string pieces = "{}[]\",:0123456789truefalsn\\u\xff\x80 \n";
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string json = good;
    for (auto edits = random() % 5; edits > 0; --edits) {
      const std::size_t at = random() % (json.size() + 1);
      switch (random() % 3) {
        case 0:
          json.insert(at, 1, pieces[random() % pieces.size()]);
          break;
        case 1:
          json.erase(at, random() % 4);
          break;
        default:
          if (at < json.size()) json[at] = static_cast<char>(random() & 0xff);
      }
    }
    try {
      const Signature signature = parse_json(json);
      ++accepted;
      REQUIRE(parse_json(signature.json()) == signature);
    } catch (const Error& error) {
      const bool expected =
          error.code == ErrorCode::invalid_signature || error.code == ErrorCode::unknown_op;
      REQUIRE(expected);
    }
  }
  CHECK(accepted > 1000);
}
