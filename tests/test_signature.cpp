// The text form of signatures: canonical spelling, and errors that say where, what and what is
// known.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>
#include <kiln/signature.hpp>

#include <map>
#include <random>
#include <unordered_map>
#include <vector>

#include "src/core/diagnostics.hpp"
#include "src/core/op_spec.hpp"
#include "tests/core_ops.hpp"
#include "tests/testing.hpp"

using namespace kiln;
using kiln::testing::contains;
using kiln::testing::ops;

namespace {

const std::string kCanonical = "norm_backward:accumulate=0,dw=f32,n=4096,w=bf16,x=bf16";

Signature parse(std::string_view text) { return parse_signature(text, ops()); }

Error refusal(std::string_view text) {
  try {
    (void)parse(text);
  } catch (const Error& error) {
    return error;
  }
  return Error{ErrorCode::internal, "nothing was refused"};
}

}  // namespace

TEST_CASE("every spelling of one request is one signature") {
  for (const std::string_view text : {
           "norm_backward:n=4096",
           "norm_backward:x=bf16,n=4096",
           "norm_backward:n=4096,x=bf16,w=bf16,dw=f32,accumulate=0",
           "  norm_backward : n = 4096 ,\tx = bf16\n",
           "norm_backward:n=0004096",
           "norm_backward:n=+4096",
           "norm_backward:n=4096,accumulate=false",
           "norm_backward:n=4096,accumulate=off",
           "norm_backward:n=4096,accumulate=no",
           "norm_backward:accumulate=0,dw=f32,n=4096,w=bf16,x=bf16",
       }) {
    INFO(text);
    const Signature signature = parse(text);
    CHECK(signature.text() == kCanonical);
    CHECK(signature == parse(kCanonical));
    CHECK(SignatureHash{}(signature) == SignatureHash{}(parse(kCanonical)));
  }
  for (const std::string_view on : {"1", "true", "on", "yes"}) {
    CHECK(parse("norm_backward:n=1,accumulate=" + std::string(on)).flag("accumulate"));
  }
}

TEST_CASE("a default that depends on another key is filled in") {
  CHECK(parse("norm_backward:n=8,x=f16").value("w") == "f16");
  CHECK(parse("norm_backward:n=8,x=f16,w=f32").value("w") == "f32");
}

TEST_CASE("an op with defaults for every key needs none") {
  CHECK(parse("scale").text() == "scale:rows=1");
  CHECK(parse("scale:").text() == "scale:rows=1");
  CHECK(parse(" scale : ").text() == "scale:rows=1");
}

TEST_CASE("keys are read by type") {
  const Signature signature = parse("norm_backward:n=4096,accumulate=on");
  CHECK(signature.integer("n") == 4096);
  CHECK(signature.flag("accumulate"));
  CHECK(signature.value("x") == "bf16");
  CHECK_THROWS_AS(signature.value("m"), Error);
  CHECK_THROWS_AS(signature.integer("x"), Error);
  CHECK_THROWS_AS(signature.flag("n"), Error);
  CHECK(parse("scale:rows=9223372036854775807").integer("rows") == INT64_MAX);
}

TEST_CASE("numbers that are no size are refused with the range") {
  struct Case {
    std::string value;
    std::string problem;
  };
  for (const Case& item : {
           Case{"0", "out of range"},
           Case{"-1", "out of range"},
           Case{"65537", "out of range"},
           Case{"9223372036854775807", "out of range"},
           Case{"9223372036854775808", "does not fit"},
           Case{"-9223372036854775809", "does not fit"},
           Case{"99999999999999999999999999", "does not fit"},
           Case{"", "no value"},
           Case{"4_096", "not an integer"},
           Case{"0x10", "not an integer"},
           Case{"1e3", "not an integer"},
           Case{"4096.0", "not an integer"},
           Case{"+-5", "not an integer"},
           Case{"++5", "not an integer"},
           Case{"+", "not an integer"},
           Case{"nan", "not an integer"},
           Case{"40 96", "not an integer"},
           Case{"=4096", "not an integer"},
       }) {
    const Error error = refusal("norm_backward:n=" + item.value);
    INFO(error.detail);
    CHECK(error.code == ErrorCode::invalid_signature);
    CHECK_THAT(error.detail, contains("column 17"));
    CHECK_THAT(error.detail, contains(item.problem));
    CHECK_THAT(error.detail, contains("an integer from 1 to 65536"));
  }
}

TEST_CASE("errors name the column, the piece, what is known and what was meant") {
  struct Case {
    std::string text;
    ErrorCode code;
    std::vector<std::string> pieces;
  };
  const ErrorCode bad = ErrorCode::invalid_signature;
  for (const Case& item : {
           Case{"norm_bakward:n=1",
                ErrorCode::unknown_op,
                {"column 1", "\"norm_bakward\"", "did you mean \"norm_backward\"", "scale"}},
           Case{"zebra:n=1", ErrorCode::unknown_op, {"\"zebra\"", "known: norm_backward, scale"}},
           Case{"norm_backward:n=1,acumulate=1",
                bad,
                {"column 19", "\"acumulate\"", "did you mean \"accumulate\"", "dw, n, w, x"}},
           Case{"norm_backward:n=1, x=bf61",
                bad,
                {"column 22", "\"bf61\"", "did you mean \"bf16\"", "one of f32, f16, bf16"}},
           Case{"norm_backward:n=1,accumulate=2", bad, {"column 30", "\"2\"", "0 or 1"}},
           Case{"norm_backward:n=1,n=1", bad, {"column 19", "\"n\"", "twice"}},
           Case{"norm_backward:x=bf16", bad, {"needs key \"n\"", "from 1 to 65536"}},
           Case{"norm_backward:n=1,", bad, {"column 19", "nothing stands"}},
           Case{"norm_backward:,n=1", bad, {"column 15", "nothing stands"}},
           Case{"norm_backward:n", bad, {"column 15", "\"n\"", "no '='"}},
           Case{"norm_backward:=1", bad, {"column 15", "no key"}},
           Case{"norm_backward:n=1,w=none", bad, {"dw needs w"}},
           Case{"", bad, {"column 1", "no op"}},
           Case{"   ", bad, {"no op"}},
           Case{":n=1", bad, {"no op"}},
           Case{"norm_backward:N=1", bad, {"\"N\""}},
       }) {
    const Error error = refusal(item.text);
    INFO(item.text << " gave " << error.detail);
    CHECK(error.code == item.code);
    for (const std::string& piece : item.pieces) CHECK_THAT(error.detail, contains(piece));
    CHECK(std::string(error.what()) == std::string(to_string(error.code)) + ": " + error.detail);
  }
}

TEST_CASE("messages stay short and printable whatever the input") {
  const Error wild = refusal(std::string("norm_backward:n=\x01\xff\n\"", 20));
  CHECK_THAT(wild.detail, contains("\\x01\\xff\\x0a\\\""));
  CHECK(refusal(std::string(1 << 20, 'x')).detail.size() < 400);
  CHECK(refusal("norm_backward:n=" + std::string(4000, '9')).detail.size() < 400);
  CHECK(refusal(std::string(4000, 'q')).detail.size() < 400);
}

TEST_CASE("different requests hash and compare apart") {
  std::unordered_map<Signature, int, SignatureHash> seen;
  for (int n = 1; n <= 4096; ++n) seen[parse("norm_backward:n=" + std::to_string(n))] = n;
  CHECK(seen.size() == 4096);
  std::map<std::size_t, int> hashes;
  for (const auto& [signature, n] : seen) hashes[SignatureHash{}(signature)] = n;
  CHECK(hashes.size() == 4096);
  CHECK(SignatureHash{}(Signature{"a", {{"b", "c"}}}) !=
        SignatureHash{}(Signature{"ab", {{"", "c"}}}));
}

TEST_CASE("a slip is suggested, an unrelated word is not") {
  const std::vector<std::string_view> names = {"accumulate", "dw", "n", "x"};
  CHECK(nearest("acumulate", names) == "accumulate");
  CHECK(nearest("dww", names) == "dw");
  CHECK(nearest("banana", names).empty());
  CHECK(nearest("", names).empty());
  CHECK(nearest(std::string(100000, 'a'), names).empty());
}

TEST_CASE("no mutation of a signature crashes, and what is accepted is canonical") {
  std::mt19937 random(7);
  const std::string pieces = "norm_backward:n=4096,x=bf16 \t\n+-0_\xff{}\"";
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = kCanonical;
    for (auto edits = random() % 6; edits > 0; --edits) {
      const std::size_t at = random() % (text.size() + 1);
      switch (random() % 3) {
        case 0:
          text.insert(at, 1, pieces[random() % pieces.size()]);
          break;
        case 1:
          text.erase(at, random() % 5);
          break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(random() & 0xff);
      }
    }
    try {
      const Signature signature = parse(text);
      ++accepted;
      REQUIRE(parse(signature.text()) == signature);
      REQUIRE(parse_signature_json(signature.json(), ops()) == signature);
    } catch (const Error& error) {
      const bool expected =
          error.code == ErrorCode::invalid_signature || error.code == ErrorCode::unknown_op;
      REQUIRE(expected);
    }
  }
  CHECK(accepted > 1000);
}
