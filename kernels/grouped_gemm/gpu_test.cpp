// What the family promises on a GPU beyond the suite of all families: groups never touch one
// another, whatever their neighbours hold, and adding gives the bits of a plain add.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "kernels/grouped_gemm/gpu_test_trial.hpp"
#include "tests/testing.hpp"
#include "tools/verify/element.hpp"

namespace {

using namespace kiln;
using namespace kiln::verify;
using namespace kiln::grouped_gemm::testing;

// Widths at which tiles, units and slabs end, and between; few, because each is compiled.
const std::vector<std::string>& shapes() {
  static const std::vector<std::string> all{
      "grouped_gemm_forward:n=264,k=136",
      "grouped_gemm_forward:n=8,k=328,out=f32",
      "grouped_gemm_forward:n=192,k=8",
      "grouped_gemm_dgrad:n=136,k=264",
      "grouped_gemm_dgrad:n=64,k=72,out=f32",
      "grouped_gemm_dgrad:n=328,k=384",
      "grouped_gemm_wgrad:n=136,k=264",
      "grouped_gemm_wgrad:n=72,k=8,out=f32",
      "grouped_gemm_wgrad:n=248,k=192,accumulate=1",
      "grouped_gemm_wgrad:n=264,k=328,out=f32,accumulate=1",
      "grouped_gemm_wgrad:n=56,k=128,out=f32,accumulate=1,rows=4096",
  };
  return all;
}

std::vector<std::int64_t> random_sizes(std::mt19937_64& random) {
  std::vector<std::int64_t> sizes(1 + random() % 9);
  for (std::int64_t& size : sizes) {
    const std::uint64_t kind = random() % 5;
    size = kind == 0   ? 0
           : kind == 1 ? 1
           : kind == 2 ? 64 * static_cast<std::int64_t>(random() % 5)
                       : static_cast<std::int64_t>(random() % 300);
  }
  return sizes;
}

TEST_CASE("random problems are right, with the same bits by both routes and on half the SMs") {
  std::mt19937_64 random(setting().seed);
  int problems = 0;
  const int count = kiln::testing::soaking() ? 330 : 66;
  for (int i = 0; i < count; ++i) {
    const double scale = i / 11 % 6 == 5 ? 1e-38 : i / 11 % 6 == 4 ? 1e-20 : 1.0;
    const Trial t = make_trial(shapes()[static_cast<std::size_t>(i) % shapes().size()],
                               random_sizes(random),
                               static_cast<std::int64_t>(random() % 40),
                               scale,
                               random);
    CAPTURE(t.signature, t.sizes, t.rows, scale, setting().seed);
    const Bytes fused = run(t, setting().fused);
    if (scale == 1.0) CHECK(reference_failure(t, fused) == "");
    CHECK(fused == run(t, setting().composed));
    CHECK(fused == run(t, setting().fused, setting().device.sm_count / 2));
    CHECK(fused == run(t, setting().fused, 1));
    ++problems;
  }
  std::printf("%d random grouped GEMMs: right, and the same bits by both routes\n", problems);
}

// One fp32 add, and one rounding to the output's type.
void add(DType type, std::byte* to, const std::byte* value) {
  const auto sum = static_cast<float>(load(type, to)) + static_cast<float>(load(type, value));
  store(type, static_cast<double>(sum), to);
}

TEST_CASE("adding gives the bits of a plain add of the overwriting kernel's result") {
  std::mt19937_64 random(setting().seed + 1);
  for (const std::string type : {"f32", "bf16"}) {
    for (const double scale : {1.0, 1e-20, 1e-38}) {
      const std::string plain = "grouped_gemm_wgrad:n=200,k=328,out=" + type;
      const std::vector<std::int64_t> sizes{130, 0, 1, 64, 500, 0, 33};
      Trial t = make_trial(plain + ",accumulate=1", sizes, 3, scale, random);
      Trial overwriting = t;
      overwriting.signature = plain;
      overwriting.gemm.accumulate = false;
      Bytes wanted = t.before;
      const Bytes product = run(overwriting, setting().fused);
      const int size = size_bytes(t.gemm.out);
      for (std::int64_t i = 0; i < t.out_elements(); ++i)
        add(t.gemm.out, wanted.data() + i * size, product.data() + i * size);
      // Both tile classes: the copy engine adds, or old values are staged.
      for (const std::string rows : {",rows=64", ",rows=4096"}) {
        CAPTURE(type, scale, rows, setting().seed);
        t.signature = plain + ",accumulate=1" + rows;
        CHECK(run(t, setting().fused) == wanted);
        CHECK(run(t, setting().composed) == wanted);
      }
    }
  }
}

TEST_CASE("runs beside another stream's work repeat their bits") {
  std::mt19937_64 random(setting().seed + 5);
  const int times = kiln::testing::soaking() ? 1000 : 20;
  for (const std::string& text : shapes()) {
    const Trial t = make_trial(text, random_sizes(random), 7, 1.0, random);
    const Trial load = make_trial(text, {900, 3, 0, 2100}, 0, 1.0, random);
    CAPTURE(text, t.sizes, times, setting().seed);
    CHECK(differing_runs(t, load, setting().fused, times) == 0);
  }
  std::printf("%zu signatures, %d runs under load each\n", shapes().size(), times);
}

TEST_CASE("NaN and Inf in one group, or past the last row, reach no other group") {
  std::mt19937_64 random(setting().seed + 2);
  const std::vector<std::int64_t> sizes{100, 37, 0, 1, 129, 64};
  for (const std::string text : {"grouped_gemm_forward:n=136,k=200",
                                 "grouped_gemm_dgrad:n=136,k=200",
                                 "grouped_gemm_wgrad:n=136,k=200,out=f32",
                                 "grouped_gemm_wgrad:n=136,k=200,out=f32,accumulate=1"}) {
    const Trial clean = make_trial(text, sizes, 20, 1.0, random);
    const Bytes wanted = run(clean, setting().fused);
    for (const double poison : {std::nan(""), HUGE_VAL}) {
      Trial dirty = clean;
      const auto spoil = [&](Bytes& bytes, std::int64_t row, std::int64_t columns) {
        for (std::int64_t c = 0; c < columns; ++c)
          store(DType::bf16, poison, bytes.data() + 2 * (row * columns + c));
      };
      // All of group 1, and the rows of no group.
      for (std::int64_t row = 0; row < clean.rows; ++row) {
        if (!(row >= 100 && row < 137) && row < clean.used()) continue;
        spoil(dirty.a, row, clean.gemm.a_columns());
        if (clean.wgrad()) spoil(dirty.b, row, clean.gemm.k);
      }
      for (Service* service : {&setting().fused, &setting().composed}) {
        const Bytes got = run(dirty, *service);
        const std::int64_t size = size_bytes(clean.gemm.out);
        std::int64_t differing = 0;
        for (std::int64_t i = 0; i < clean.out_elements(); ++i) {
          const bool of_group_1 = clean.wgrad() ? i / (clean.gemm.n * clean.gemm.k) == 1
                                                : i / clean.gemm.out_columns() >= 100 &&
                                                      i / clean.gemm.out_columns() < 137;
          if (of_group_1) continue;
          differing += !std::equal(
              got.begin() + i * size, got.begin() + (i + 1) * size, wanted.begin() + i * size);
        }
        CAPTURE(text, poison, setting().seed);
        CHECK(differing == 0);
      }
    }
  }
}

TEST_CASE("a group alone has the bits it has among others") {
  std::mt19937_64 random(setting().seed + 3);
  const std::vector<std::int64_t> sizes{70, 300, 1, 128};
  for (const std::string text : {"grouped_gemm_forward:n=264,k=136",
                                 "grouped_gemm_dgrad:n=264,k=136",
                                 "grouped_gemm_wgrad:n=264,k=136"}) {
    const Trial all = make_trial(text, sizes, 0, 1.0, random);
    const Bytes together = run(all, setting().fused);
    std::int64_t first = 0;
    for (std::size_t e = 0; e < sizes.size(); ++e) {
      Trial alone = all;
      alone.sizes = {sizes[e]};
      alone.rows = sizes[e];
      const auto part = [](const Bytes& bytes, std::int64_t begin, std::int64_t count) {
        return Bytes(bytes.begin() + begin, bytes.begin() + begin + count);
      };
      const std::int64_t matrix = all.gemm.n * all.gemm.k * 2, row = all.gemm.a_columns() * 2;
      alone.a = part(all.a, first * row, sizes[e] * row);
      alone.b = all.wgrad() ? part(all.b, first * all.gemm.k * 2, sizes[e] * all.gemm.k * 2)
                            : part(all.b, static_cast<std::int64_t>(e) * matrix, matrix);
      const std::int64_t out_row = all.gemm.out_columns() * 2;
      const std::int64_t begin =
          all.wgrad() ? static_cast<std::int64_t>(e) * matrix : first * out_row;
      const std::int64_t count = all.wgrad() ? matrix : sizes[e] * out_row;
      alone.before = part(all.before, begin, count);
      CAPTURE(text, e, setting().seed);
      CHECK(run(alone, setting().fused) == part(together, begin, count));
      first += sizes[e];
    }
  }
}

TEST_CASE("offsets out of order, negative or past the end harm nothing outside the tensors") {
  std::mt19937_64 random(setting().seed + 4);
  for (const std::string text : {"grouped_gemm_forward:n=136,k=72",
                                 "grouped_gemm_dgrad:n=136,k=72",
                                 "grouped_gemm_wgrad:n=136,k=72"}) {
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{50, -20, 90}, {-7, 500, -100}, {1 << 20, 0, -(1 << 21)}}) {
      Trial t = make_trial(text, {40, 40, 40}, 0, 1.0, random);
      t.sizes = sizes;  // ends that are wrong; rows stay 120
      CAPTURE(text, sizes, setting().seed);
      (void)run(t, setting().fused);  // checks the guards and that the device is well
      (void)run(t, setting().composed);
    }
  }
}

}  // namespace
