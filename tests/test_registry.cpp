// The registry, over families made up here: lookups by op, and the parsing that goes through them.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>

#include <array>
#include <vector>

#include "kernels/family.hpp"
#include "tests/core_ops.hpp"
#include "tests/testing.hpp"

using namespace kiln;
using kiln::testing::contains;

namespace {

const Family kNorm{.name = "norm", .ops = [] { return std::vector{kiln::testing::ops()[0]}; }};
const Family kScale{.name = "scaling", .ops = [] { return std::vector{kiln::testing::ops()[1]}; }};

// Counts what it makes, as a family does whose specs cost something.
int made_all = 0, made_one = 0;
constexpr OpSpec kDear{.name = "dear"};
const Family kMaking{.name = "making",
                     .ops =
                         [] {
                           ++made_all;
                           return std::vector<const OpSpec*>{&kDear};
                         },
                     .find_op = [](std::string_view op) -> const OpSpec* {
                       if (op != kDear.name) return nullptr;
                       ++made_one;
                       return &kDear;
                     }};

}  // namespace

namespace kiln {

std::span<const Family* const> families() noexcept {
  static constexpr std::array kAll = {&kNorm, &kScale, &kMaking};
  return kAll;
}

}  // namespace kiln

TEST_CASE("an op leads to its family") {
  CHECK(find_family("norm_backward").name == "norm");
  CHECK(find_family("scale").name == "scaling");
}

TEST_CASE("an op no family serves is refused with the known ones and the nearest") {
  try {
    (void)find_family("scales");
    FAIL("nothing was refused");
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::unknown_op);
    CHECK_THAT(error.detail, contains("did you mean \"scale\""));
    CHECK_THAT(error.detail, contains("known: norm_backward, scale, dear"));
  }
  CHECK_THROWS_AS(find_family(""), Error);
}

TEST_CASE("signatures parse against the ops of every family") {
  CHECK(op_specs().size() == 3);
  CHECK(Signature::parse("scale:rows=7") == Signature::parse_json(R"({"op":"scale","rows":7})"));
  CHECK_THROWS_AS(Signature::parse("unknown:rows=7"), Error);
}

TEST_CASE("a lookup makes the one op that it asks for, and an error all of them") {
  made_all = made_one = 0;
  CHECK(find_family("norm_backward").name == "norm");
  CHECK(Signature::parse("scale:rows=7").op == "scale");
  CHECK(made_one + made_all == 0);
  CHECK(find_family("dear").name == "making");
  CHECK(Signature::parse("dear").op == "dear");
  CHECK(Signature::parse_json(R"({"op": "dear"})").op == "dear");
  CHECK(find_op_spec("dear") == &kDear);
  CHECK(made_one == 4);
  CHECK(made_all == 0);
  CHECK(find_op_spec("cheap") == nullptr);
  CHECK(made_all == 0);
  CHECK_THROWS_AS(Signature::parse("cheap"), Error);
  CHECK(made_all > 0);
}

TEST_CASE("a call list hands out cleared calls up to its capacity") {
  CallList list;
  for (int i = 0; i < CallList::kCapacity; ++i) list.add().threads = 32;
  CHECK_THROWS_AS(list.add(), Error);
  list.count = 0;
  CHECK(list.add().threads == 0);
  CHECK(list.count == 1);
}
