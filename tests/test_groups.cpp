// Groups of a problem's rows: read from text, dealt out, and refused when they cannot be read.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <kiln/error.hpp>

#include "kernels/family.hpp"
#include "tests/testing.hpp"
#include "tools/verify/case.hpp"
#include "tools/verify/groups.hpp"

namespace {

using namespace kiln;
using namespace kiln::verify;
using kiln::testing::contains;

TEST_CASE("groups share out every row, by their kind, in an order of the seed's") {
  for (const std::string kind : {"balanced", "skewed", "one-empty", "zipf"}) {
    for (const std::int64_t count : {1, 2, 7, 64, 1024}) {
      const Groups groups = Groups::parse(std::to_string(count) + ":" + kind);
      for (const std::int64_t rows : {0, 1, 63, 1000, 131'072}) {
        CAPTURE(kind, count, rows);
        const std::vector<std::int64_t> sizes = groups.sizes(rows, 5);
        REQUIRE(static_cast<std::int64_t>(sizes.size()) == count);
        CHECK(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == rows);
        CHECK(*std::min_element(sizes.begin(), sizes.end()) >= 0);
        CHECK(sizes == groups.sizes(rows, 5));
      }
    }
  }
  const auto even = Groups::parse("8").sizes(801, 1);
  CHECK(*std::max_element(even.begin(), even.end()) - *std::min_element(even.begin(), even.end()) ==
        1);
  const auto one_empty = Groups::parse("8:one-empty").sizes(700, 1);
  CHECK(std::count(one_empty.begin(), one_empty.end(), 0) == 1);
  const auto zipf = Groups::parse("16:zipf").sizes(10'000, 1);
  CHECK(*std::max_element(zipf.begin(), zipf.end()) >
        10 * *std::min_element(zipf.begin(), zipf.end()));
  CHECK(zipf != Groups::parse("16:zipf").sizes(10'000, 2));
  CHECK(Groups::parse("100,0,28").sizes(7, 1) == std::vector<std::int64_t>{100, 0, 28});
}

TEST_CASE("groups that cannot be read are quoted, with what is known") {
  for (const std::string text : {"",
                                 "0",
                                 "1025",
                                 "-3",
                                 "8:",
                                 "8:zip",
                                 "x",
                                 "3,,4",
                                 "3,",
                                 ",",
                                 "1e3",
                                 "2147483647,1",
                                 "9999999999"}) {
    CAPTURE(text);
    try {
      (void)Groups::parse(text);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code == ErrorCode::invalid_argument);
      CHECK_THAT(error.detail, contains("'" + text + "'"));
      CHECK_THAT(error.detail, contains("64:balanced"));
    }
  }
  CHECK_THROWS_AS(make_problem(Signature::parse("rms_norm_backward:n=8"), 4, {4}), Error);
}

TEST_CASE("a grouped problem has the groups it is given, and their reference") {
  const Signature signature = Signature::parse("grouped_gemm_forward:n=16,k=24");
  Case host(signature, {9, 3, {}, {4, 0, 3}});
  CHECK(host.problem().flops == 2.0 * 7 * 16 * 24);
  const Expected& y = host.expected().front();
  for (std::size_t row = 0; row < 9; ++row) CHECK(std::isnan(y.values[row * 16]) == (row >= 7));
}

}  // namespace
