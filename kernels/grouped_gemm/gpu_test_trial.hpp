// Grouped GEMMs on a GPU as the tests make them: a problem on the host, and a run of it by one
// route.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <kiln/service.hpp>

#include "kernels/grouped_gemm/op.hpp"
#include "src/cuda/driver.hpp"
#include "tools/verify/device.hpp"
#include "tools/verify/random.hpp"

namespace kiln::grouped_gemm::testing {

struct Setting {
  Driver driver = Driver::load();
  verify::CurrentDevice current{driver, 0};
  verify::Stream stream{driver};
  Service fused{options(RouteChoice::automatic)};
  Service composed{options(RouteChoice::composed)};
  Device device = fused.device(0);
  std::uint64_t seed = verify::fresh_seed();

  static Options options(RouteChoice route) {
    Options result;
    result.policy = Policy::from_env();
    result.policy.strict = true;
    result.route = route;
    return result;
  }
};
[[nodiscard]] Setting& setting();

using Bytes = std::vector<std::byte>;

// A problem on the host: sizes of groups, rows that belong to none, and elements as they are
// stored.
struct Trial {
  GroupedGemm gemm;
  std::string signature;
  std::vector<std::int64_t> sizes;
  std::int64_t rows = 0;
  Bytes a, b, before;

  [[nodiscard]] std::int64_t groups() const { return static_cast<std::int64_t>(sizes.size()); }
  [[nodiscard]] std::int64_t used() const {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  }
  [[nodiscard]] bool wgrad() const { return gemm.op == Op::wgrad; }
  [[nodiscard]] std::int64_t out_elements() const {
    return wgrad() ? groups() * gemm.n * gemm.k : rows * gemm.out_columns();
  }
};

// The output is poisoned with NaN, or, when it is added to, holds random values and negative zeros.
[[nodiscard]] Trial make_trial(const std::string& signature,
                               std::vector<std::int64_t> sizes,
                               std::int64_t spare_rows,
                               double scale,
                               std::mt19937_64& random);

// Runs one route and returns the output's bytes; checks that no byte beyond it changed.
[[nodiscard]] Bytes run(const Trial& t, Service& service, int sm_limit = 0);

// Runs one trial so many times while another runs on a second stream; how often a byte differed
// from a run alone.
[[nodiscard]] int differing_runs(const Trial& t, const Trial& load, Service& service, int times);

// Where the result is not what double precision gives, or nothing.
[[nodiscard]] std::string reference_failure(const Trial& t, const Bytes& result);

}  // namespace kiln::grouped_gemm::testing
