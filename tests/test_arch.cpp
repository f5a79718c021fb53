// Architectures: their names and the limits planning relies on.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/arch.hpp>
#include <kiln/error.hpp>

#include <algorithm>
#include <string>

#include "tests/testing.hpp"

using namespace kiln;
using kiln::testing::contains;

namespace {

std::string refusal(std::string_view text) {
  try {
    (void)Arch::parse(text);
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::unknown_arch);
    return error.detail;
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("an architecture is read in every spelling people use") {
  const Arch hopper{9, 0, 'a'};
  for (const std::string_view text : {"sm_90a", "sm_90", "90a", "90", "9.0", "9.0a", "sm_9.0"}) {
    INFO(text);
    CHECK(Arch::parse(text) == hopper);
  }
  CHECK(Arch::parse("sm_100").text() == "sm_100a");
  CHECK(Arch::parse("10.3").text() == "sm_103a");
  CHECK(Arch::parse("12.0").text() == "sm_120a");
  CHECK(Arch::parse("8.0").text() == "sm_80");
}

TEST_CASE("every known architecture round-trips and is found by its capability") {
  for (const DeviceLimits& limits : known_limits()) {
    INFO(limits.arch.text());
    CHECK(Arch::parse(limits.arch.text()) == limits.arch);
    CHECK(limits_of(limits.arch) == limits);
    CHECK(arch_of_capability(limits.arch.major, limits.arch.minor) == limits.arch);
  }
  CHECK(arch_of_capability(9, 0) == Arch{9, 0, 'a'});
  CHECK_FALSE(arch_of_capability(7, 5).has_value());
  CHECK_FALSE(arch_of_capability(-1, 99).has_value());
}

TEST_CASE("unknown architectures are refused with the known ones and the nearest") {
  CHECK_THAT(refusal("sm_90b"), contains("did you mean \"sm_90a\""));
  CHECK_THAT(refusal("sm_80a"), contains("did you mean \"sm_80\""));
  CHECK_THAT(refusal("sm_75"), contains("sm_80, sm_86"));
  CHECK_THAT(refusal("hopper"), contains("known: sm_80"));
  for (const std::string_view text : {"",
                                      "sm_",
                                      "a",
                                      "9",
                                      ".",
                                      "9.",
                                      ".0",
                                      "9.00",
                                      "9..0",
                                      "090",
                                      "sm_sm_90",
                                      "sm_9999",
                                      "-90",
                                      "90 a",
                                      "sm_100f",
                                      "90aa",
                                      "compute_90",
                                      "99999999999999999999",
                                      "9.0.0"}) {
    INFO(text);
    CHECK_THAT(refusal(text), contains("unknown architecture"));
  }
  CHECK(refusal(std::string(100000, '9')).size() < 400);
  CHECK_THROWS_AS(limits_of(Arch{9, 0, '\0'}), Error);
}

TEST_CASE("the table is ascending and its numbers agree with one another") {
  const auto limits = known_limits();
  CHECK(std::ranges::is_sorted(limits, {}, &DeviceLimits::arch));
  for (const DeviceLimits& row : limits) {
    INFO(row.arch.text());
    CHECK(row.smem_per_cta_bytes + row.smem_reserved_per_cta_bytes == row.smem_per_sm_bytes);
    CHECK(row.threads_per_sm % 32 == 0);
    CHECK(row.threads_per_cta <= row.threads_per_sm);
    CHECK(row.bulk_copy == (row.arch.major >= 9));
    CHECK((row.max_cluster_ctas > 0) == (row.arch.major >= 9));
    CHECK((row.arch.suffix == 'a') == (row.arch.major >= 9));
    CHECK_FALSE(row.origin.empty());
  }
}

TEST_CASE("shared memory a CTA may opt in to is the documented number of bytes") {
  CHECK(limits_of(Arch::parse("sm_80")).smem_per_cta_bytes == 166'912);
  CHECK(limits_of(Arch::parse("sm_86")).smem_per_cta_bytes == 101'376);
  CHECK(limits_of(Arch::parse("sm_87")).smem_per_cta_bytes == 166'912);
  CHECK(limits_of(Arch::parse("sm_89")).smem_per_cta_bytes == 101'376);
  CHECK(limits_of(Arch::parse("sm_90a")).smem_per_cta_bytes == 232'448);
  CHECK(limits_of(Arch::parse("sm_100a")).smem_per_cta_bytes == 232'448);
  CHECK(limits_of(Arch::parse("sm_103a")).smem_per_cta_bytes == 232'448);
  CHECK(limits_of(Arch::parse("sm_120a")).smem_per_cta_bytes == 101'376);
}
