// The harness that judges kernels: conversions, guards, comparison and random data must themselves
// be right.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/family.hpp"
#include "src/cuda/driver.hpp"
#include "src/cuda/toolchain.hpp"
#include "tests/testing.hpp"
#include "tools/verify/case.hpp"
#include "tools/verify/compare.hpp"
#include "tools/verify/device.hpp"
#include "tools/verify/device_case.hpp"
#include "tools/verify/element.hpp"
#include "tools/verify/examine.hpp"
#include "tools/verify/image.hpp"
#include "tools/verify/random.hpp"
#include "tools/verify/timing_kernels.hpp"

namespace {

using namespace kiln;
using namespace kiln::verify;
using kiln::testing::contains;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Conversion {
  std::uint16_t (*encode)(double) noexcept;
  double (*decode)(std::uint16_t) noexcept;
  std::uint16_t infinity;
};

TEST_CASE("every 16-bit float survives a round trip, NaN as NaN") {
  const Conversion format =
      GENERATE(Conversion{to_f16, from_f16, 0x7C00}, Conversion{to_bf16, from_bf16, 0x7F80});
  int wrong = 0;
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const double value = format.decode(static_cast<std::uint16_t>(bits));
    const std::uint16_t back = format.encode(value);
    const bool nan = (bits & 0x7FFF) > format.infinity;
    wrong += nan ? !std::isnan(value) || (back & 0x7FFF) <= format.infinity : back != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("between two neighbours a value goes to the nearer one, and a tie to the even one") {
  const Conversion format =
      GENERATE(Conversion{to_f16, from_f16, 0x7C00}, Conversion{to_bf16, from_bf16, 0x7F80});
  int wrong = 0;
  for (std::uint16_t low = 0; low + 1 < format.infinity; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const double middle = (format.decode(low) + format.decode(high)) / 2;
    wrong += format.encode(middle) != (low % 2 == 0 ? low : high);
    wrong += format.encode(std::nextafter(middle, 0.0)) != low;
    wrong += format.encode(std::nextafter(middle, kInfinity)) != high;
    wrong += format.encode(-middle) != ((low % 2 == 0 ? low : high) | 0x8000);
  }
  CHECK(wrong == 0);
}

TEST_CASE("known values and the edges of f16 and bf16") {
  CHECK(to_f16(1.0) == 0x3C00);
  CHECK(to_f16(-2.0) == 0xC000);
  CHECK(to_f16(65504.0) == 0x7BFF);
  CHECK(to_f16(65519.99) == 0x7BFF);
  CHECK(to_f16(65520.0) == 0x7C00);
  CHECK(to_f16(0x1p-24) == 0x0001);
  CHECK(to_f16(0x1p-25) == 0x0000);
  CHECK(to_f16(-0.0) == 0x8000);
  CHECK(to_bf16(1.0) == 0x3F80);
  CHECK(to_bf16(3.3895313892515355e38) == 0x7F7F);
  CHECK(to_bf16(3.4e38) == 0x7F80);
  CHECK(to_bf16(kInfinity) == 0x7F80);
  // Through float this would be a tie and go down: rounding twice is wrong.
  CHECK(to_f16(1.0 + 0x1p-11 + 0x1p-40) == 0x3C01);
  CHECK(to_bf16(1.0 + 0x1p-8 + 0x1p-40) == 0x3F81);
}

TensorSpec matrix_spec(Role role, DType type = DType::bf16) {
  return {"dx", type, {3, 5}, role, Fill::normal};
}

TEST_CASE("an image places elements by stride and base, with poison where nothing was written") {
  const Layout layout = make_layout(matrix_spec(Role::input, DType::f32), {3, 1});
  std::vector<double> values(15);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const std::vector<std::byte> image = make_image(layout, values);
  CHECK(static_cast<std::int64_t>(image.size()) == layout.total_bytes);
  CHECK(layout.offset(0) == kGuardBytes + 4);
  CHECK(layout.offset(5) == layout.offset(0) + 8 * 4);
  CHECK(decode(layout, image) == values);
  CHECK(std::isnan(load(DType::f32, image.data() + layout.offset(4) + 4)));

  const Layout output = make_layout(matrix_spec(Role::output), {});
  for (const double value : decode(output, make_image(output, {}))) CHECK(std::isnan(value));
  const Tensor tensor = layout.tensor(0x10000);
  CHECK(tensor.strides[0] == 8);
  CHECK(reinterpret_cast<std::uint64_t>(tensor.data) ==
        0x10000 + static_cast<std::uint64_t>(kGuardBytes) + 4);
}

TEST_CASE("a stray write is found wherever it lands, and a proper one is not") {
  const Layout layout = make_layout(matrix_spec(Role::output), {2, 1});
  const std::vector<std::byte> before = make_image(layout, {});
  const auto damaged = [&](std::int64_t offset) {
    std::vector<std::byte> after = before;
    after[static_cast<std::size_t>(offset)] ^= std::byte{1};
    return damage(layout, before, after).value_or("");
  };
  CHECK_THAT(damaged(0), contains("before the first element of dx"));
  CHECK_THAT(damaged(layout.base_bytes - 1), contains("1 bytes before the first element"));
  CHECK_THAT(damaged(layout.offset(4) + 2), contains("gap after row 0"));
  CHECK_THAT(damaged(layout.offset(14) + 2), contains("0 bytes after the last element"));
  CHECK_THAT(damaged(layout.total_bytes - 1), contains("after the last element"));
  for (std::int64_t element = 0; element < layout.elements(); ++element)
    CHECK(damaged(layout.offset(element)).empty());

  const Layout input = make_layout(matrix_spec(Role::input), {2, 0});
  const std::vector<std::byte> given = make_image(input, std::vector<double>(15, 1.0));
  std::vector<std::byte> after = given;
  after[static_cast<std::size_t>(input.offset(7))] = std::byte{};
  CHECK_THAT(damage(input, given, after).value_or(""), contains("row 1, column 2"));
}

TEST_CASE("a tensor without rows is all guard") {
  const Layout layout = make_layout({"dx", DType::f32, {0, 7}, Role::output, Fill::normal}, {});
  const std::vector<std::byte> before = make_image(layout, {});
  CHECK_FALSE(damage(layout, before, before));
  std::vector<std::byte> after = before;
  after[static_cast<std::size_t>(layout.base_bytes)] ^= std::byte{1};
  CHECK(damage(layout, before, after));
  CHECK(decode(layout, before).empty());
  CHECK(element_bytes(layout, before).empty());
}

// A driver whose device memory is the host's.
Driver host_driver() {
  Driver driver;
  driver.memory_allocate = [](std::uint64_t* address, std::size_t bytes) {
    *address = reinterpret_cast<std::uint64_t>(std::malloc(bytes));
    return 0;
  };
  driver.memory_free = [](std::uint64_t address) {
    std::free(reinterpret_cast<void*>(address));
    return 0;
  };
  driver.copy_to_device = [](std::uint64_t to, const void* from, std::size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return 0;
  };
  driver.copy_to_host = [](void* to, std::uint64_t from, std::size_t bytes) {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return 0;
  };
  driver.memory_set8 = [](std::uint64_t to, unsigned char value, std::size_t bytes) {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return 0;
  };
  driver.context_synchronize = [] { return 0; };
  return driver;
}

TEST_CASE("a kernel that writes one element too many is caught in device memory") {
  const Driver driver = host_driver();
  const Layout layout = make_layout(matrix_spec(Role::output), {});
  const std::vector<std::byte> before = make_image(layout, {});
  const Block block(driver, layout.total_bytes);
  const auto run = [&](std::int64_t elements) {
    block.upload(before);
    // The kernel of this host: fills its output with ones.
    auto* data = reinterpret_cast<std::byte*>(layout.tensor(block.address()).data);
    for (std::int64_t i = 0; i < elements; ++i) store(DType::bf16, 1.0, data + 2 * i);
    return damage(layout, before, block.download());
  };
  CHECK_FALSE(run(15));
  CHECK_THAT(run(16).value_or(""), contains("after the last element of dx"));
}

TEST_CASE("a comparison finds what is out of bounds and says where it is worst") {
  const Expected expected{"dx", {1.0, 2.0, 3.0, 0.0}, {0.1, 0.1, 0.1, 0.0}};
  const TensorCheck good = compare(expected, std::vector<double>{1.05, 2.0, 2.91, 0.0});
  CHECK(good.passed());
  CHECK(good.worst_element == 2);
  CHECK(std::fabs(good.worst_ratio - 0.9) < 1e-9);
  const TensorCheck bad = compare(expected, std::vector<double>{1.05, 2.3, 3.0, 1e-30});
  CHECK(bad.wrong == 2);
  CHECK(bad.worst_element == 3);
  CHECK(std::isinf(bad.worst_ratio));
}

TEST_CASE("a NaN or an infinity is right only where the reference has it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto passes = [](double expected, double value) {
    return compare({"dx", {expected}, {1.0}}, std::vector<double>{value}).passed();
  };
  CHECK_FALSE(passes(1.0, nan));
  CHECK_FALSE(passes(1.0, kInfinity));
  CHECK_FALSE(passes(nan, 1.0));
  CHECK_FALSE(passes(kInfinity, -kInfinity));
  CHECK(passes(nan, nan));
  CHECK(passes(kInfinity, kInfinity));
}

TEST_CASE("bits that differ are found and named") {
  const Bits left{{"dx", {std::byte{1}, std::byte{2}}}, {"dw", {std::byte{3}}}};
  Bits right = left;
  CHECK(first_difference(left, right).empty());
  right[0].second[1] = std::byte{7};
  CHECK(first_difference(left, right) == "dx differs, first at byte 1");
}

TEST_CASE("the timing kernels compile and are both in the image") {
  const Cubin cubin =
      compile_timing_kernels(Arch::parse("sm_90a"), Policy::from_env(), {}, std::nullopt);
  const std::string_view image(reinterpret_cast<const char*>(cubin.image.data()),
                               cubin.image.size());
  const std::vector<std::string> functions = elf_functions(image);
  for (const std::string name : {kReadKernel, kSpinKernel}) {
    CHECK(std::count(functions.begin(), functions.end(), name) == 1);
  }
}

TEST_CASE(
    "rounding the reference to the stored type passes its own bounds, and a visible error does "
    "not") {
  for (const Family* family : families()) {
    for (const Sample& sample : family->samples()) {
      for (const std::int64_t rows : {0, 1, 13}) {
        CAPTURE(sample.signature, rows);
        Case host(Signature::parse(sample.signature), {rows, 42, {}});
        for (std::size_t i = 0; i < host.layouts().size(); ++i) {
          const Layout& layout = host.layouts()[i];
          if (layout.role == Role::input) continue;
          const auto expected = std::find_if(
              host.expected().begin(), host.expected().end(), [&](const Expected& each) {
                return each.name == layout.name;
              });
          REQUIRE(expected != host.expected().end());
          REQUIRE(static_cast<std::int64_t>(expected->values.size()) == layout.elements());
          std::vector<double> stored = expected->values;
          for (double& value : stored) value = rounded(layout.type, value);
          CHECK(compare(*expected, stored).passed());
          if (stored.empty()) continue;
          stored.back() += 0.5;
          CHECK_FALSE(compare(*expected, stored).passed());
        }
      }
    }
  }
}

TEST_CASE("rows worth timing move several times what an L2 holds") {
  for (const Family* family : families()) {
    for (const Sample& sample : family->samples()) {
      const Signature signature = Signature::parse(sample.signature);
      const std::int64_t bytes =
          family->problem(signature, rows_worth_timing(signature)).floor_bytes;
      CAPTURE(sample.signature, bytes);
      CHECK(bytes > 200'000'000);
      CHECK(bytes < 800'000'000);
    }
  }
}

TEST_CASE("random data depends on seed, name and index alone, and has the promised distribution") {
  const std::uint64_t stream = stream_of(1, "x");
  CHECK(stream != stream_of(2, "x"));
  CHECK(stream != stream_of(1, "dy"));
  constexpr int kCount = 100'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = sample(Fill::normal, stream, i);
    sum += value;
    squares += value * value;
    const double positive = sample(Fill::positive, stream, i);
    REQUIRE((positive >= 0.5 && positive <= 1.5));
  }
  // Four standard errors.
  CHECK(std::fabs(sum / kCount) < 4.0 / std::sqrt(kCount));
  CHECK(std::fabs(squares / kCount - 1.0) < 4.0 * std::sqrt(2.0 / kCount));
  CHECK(sample(Fill::normal, stream, 7) == sample(Fill::normal, stream, 7));
  CHECK(sample(Fill::zero, stream, 7) == 0.0);
}

}  // namespace
