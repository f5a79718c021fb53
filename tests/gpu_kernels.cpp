// Every kernel on a GPU: right against the double reference, and the same bits by every route,
// stage count, SM count and repetition.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/gpu_fixture.hpp"
#include "tests/testing.hpp"
#include "tools/verify/case.hpp"
#include "tools/verify/device_case.hpp"

namespace {

using namespace kiln;
using namespace kiln::verify;
using kiln::testing::gpu;
using kiln::testing::Variant;
using kiln::testing::variants;

double worst_ratio(const Verdict& verdict) {
  double worst = 0;
  for (const TensorCheck& check : verdict.checks) worst = std::max(worst, check.worst_ratio);
  return worst;
}

// Runs every variant, on all and on fewer SMs; the first one's bits are the standard. Returns the
// variants' names and the worst error over bound.
std::string check_variants(Case& host,
                           const std::vector<Variant>& all,
                           const std::vector<int>& sm_limits) {
  DeviceCase device_case(gpu().driver, host);
  Bits standard;
  std::string summary;
  for (const Variant& variant : all) {
    double worst = 0;
    for (const int sm_limit : sm_limits) {
      CAPTURE(variant.name, sm_limit);
      const Verdict verdict = run_and_check(device_case, variant.prepared, gpu().stream, sm_limit);
      CHECK(verdict.failures() == "");
      if (standard.empty()) standard = verdict.bits;
      CHECK(first_difference(standard, verdict.bits) == "");
      worst = std::max(worst, worst_ratio(verdict));
    }
    char text[96];
    std::snprintf(text, sizeof text, "  %s %.3f", variant.name.c_str(), worst);
    summary += text;
  }
  return summary;
}

TEST_CASE(
    "every kernel agrees with the double reference, with the same bits by every route, stage and "
    "SM count") {
  for (const Signature& signature : testing::signatures()) {
    CAPTURE(signature.text(), testing::seed());
    Case host(signature, {257, testing::seed(), {}});
    const int sms = gpu().device.sm_count;
    const std::string summary =
        check_variants(host, variants(signature), {0, std::max(1, sms / 2), 1});
    std::printf("%-76s error/bound:%s\n", signature.text().c_str(), summary.c_str());
  }
}

// Enough rows to reach every CTA, but no more elements than the host checks in a moment.
std::int64_t bounded(std::int64_t rows, const Signature& signature) {
  return std::min<std::int64_t>(rows, (1 << 22) / signature.integer("n"));
}

TEST_CASE("20 runs give the same bits") {
  for (const Signature& signature : testing::signatures()) {
    Case host(signature, {bounded(1000, signature), testing::seed() + 1, {}});
    DeviceCase device_case(gpu().driver, host);
    for (const Variant& variant : variants(signature)) {
      CAPTURE(signature.text(), variant.name, testing::seed());
      device_case.bind(variant.prepared);
      Bits first;
      for (int i = 0; i < 20; ++i) {
        device_case.reset();
        device_case.run(gpu().stream);
        const Bits bits = device_case.bits();
        if (i == 0) first = bits;
        REQUIRE(first_difference(first, bits) == "");
      }
    }
  }
  std::printf("20 runs of %zu signatures by every route: one result\n",
              testing::signatures().size());
}

bool adds(const Signature& signature) {
  return std::any_of(signature.keys.begin(), signature.keys.end(), [](const auto& key) {
    return key.first == "accumulate" && key.second == "1";
  });
}

TEST_CASE("runs of one launch without a reset between them are right") {
  // Counters and barriers must come back to where they started.
  for (const Signature& signature : testing::signatures()) {
    if (adds(signature)) continue;  // a second run adds again
    Case host(signature, {64, testing::seed() + 2, {}});
    DeviceCase device_case(gpu().driver, host);
    for (const Variant& variant : variants(signature)) {
      CAPTURE(signature.text(), variant.name, testing::seed());
      device_case.bind(variant.prepared);
      device_case.reset();
      for (int i = 0; i < 5; ++i) device_case.launch().run(gpu().stream.get());
      device_case.run(gpu().stream);
      CHECK(device_case.check().failures() == "");
    }
  }
}

TEST_CASE("odd row counts, row strides and misaligned bases are right") {
  int cases = 0;
  for (const Signature& signature : testing::signatures()) {
    const std::vector<Variant> all = variants(signature);
    for (const std::int64_t rows : {0, 1, 2, 13, 257, 1000}) {
      // Strides that keep 16-byte rows and ones that do not; a base off by one element takes the
      // narrowest path.
      for (const LayoutOptions layout : {LayoutOptions{0, 0},
                                         LayoutOptions{8, 0},
                                         LayoutOptions{3, 0},
                                         LayoutOptions{0, 1},
                                         LayoutOptions{5, 3}}) {
        if (layout.extra_stride == 0 && layout.misalign == 0 && rows == 257)
          continue;  // done above
        if (rows > bounded(rows, signature)) continue;
        CAPTURE(signature.text(), rows, layout.extra_stride, layout.misalign, testing::seed());
        Case host(signature, {rows, testing::seed() + 3, layout});
        (void)check_variants(host, all, {0});
        ++cases;
      }
    }
  }
  std::printf(
      "%d combinations of signature, rows, stride and base: right, and the same bits by every "
      "route\n",
      cases);
}

TEST_CASE("more rows than a grid dimension holds are right") {
  for (const std::string text :
       {"rms_norm_backward:n=128,x=bf16,w=bf16", "rms_norm_backward:n=5,x=f32,w=f32"}) {
    CAPTURE(text, testing::seed());
    const Signature signature = Signature::parse(text);
    Case host(signature, {200'003, testing::seed() + 4, {}});
    (void)check_variants(host, variants(signature), {0});
  }
}

TEST_CASE("widths at which tiles, vectors and panels end are right") {
  for (const int n :
       {1, 2, 7, 8, 9, 127, 129, 253, 2047, 2049, 4095, 4097, 8191, 8193, 8472, 16383}) {
    for (const std::string types : {"x=bf16,w=bf16", "x=f32,w=f32"}) {
      const Signature signature =
          Signature::parse("rms_norm_backward:n=" + std::to_string(n) + "," + types);
      CAPTURE(signature.text(), testing::seed());
      Case host(signature, {57, testing::seed() + 5, {}});
      (void)check_variants(host, variants(signature), {0});
    }
  }
}

}  // namespace
