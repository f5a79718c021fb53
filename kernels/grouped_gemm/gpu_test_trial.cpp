// Making, running and checking grouped GEMMs on a GPU.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_gemm/gpu_test_trial.hpp"

#include <algorithm>
#include <utility>

#include "tests/testing.hpp"
#include "tools/verify/compare.hpp"
#include "tools/verify/element.hpp"

namespace kiln::grouped_gemm::testing {

using namespace kiln::verify;

namespace {

Bytes random_elements(std::int64_t count, double scale, std::mt19937_64& random) {
  Bytes bytes(static_cast<std::size_t>(count * 2));
  const std::uint64_t stream = random();
  for (std::int64_t i = 0; i < count; ++i)
    store(DType::bf16, scale * sample(Fill::normal, stream, i), bytes.data() + 2 * i);
  return bytes;
}

std::vector<double> decode(const Bytes& bytes, DType type) {
  std::vector<double> values(bytes.size() / static_cast<std::size_t>(size_bytes(type)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = load(type, bytes.data() + i * static_cast<std::size_t>(size_bytes(type)));
  return values;
}

}  // namespace

Setting& setting() {
  static Setting& all = *new Setting;  // never destroyed: the driver may be gone before statics are
  return all;
}

Trial make_trial(const std::string& signature,
                 std::vector<std::int64_t> sizes,
                 std::int64_t spare_rows,
                 double scale,
                 std::mt19937_64& random) {
  Trial t;
  t.signature = signature;
  t.gemm = GroupedGemm::from(Signature::parse(signature));
  t.sizes = std::move(sizes);
  t.rows = t.used() + spare_rows;
  t.a = random_elements(t.rows * t.gemm.a_columns(), scale, random);
  t.b =
      random_elements(t.wgrad() ? t.rows * t.gemm.k : t.groups() * t.gemm.n * t.gemm.k, 1, random);
  t.before.assign(static_cast<std::size_t>(t.out_elements() * size_bytes(t.gemm.out)),
                  std::byte{0xFF});
  if (!t.gemm.accumulate) return t;
  const std::uint64_t stream = random();
  for (std::int64_t i = 0; i < t.out_elements(); ++i) {
    const double value = i % 37 == 0 ? -0.0 : scale * sample(Fill::normal, stream, i);
    store(t.gemm.out, value, t.before.data() + i * size_bytes(t.gemm.out));
  }
  return t;
}

Bytes run(const Trial& t, Service& service, int sm_limit) {
  Setting& s = setting();
  std::vector<std::int32_t> ends;
  std::int32_t end = 0;
  for (const std::int64_t size : t.sizes) ends.push_back(end += static_cast<std::int32_t>(size));
  constexpr std::size_t kGuard = 4096;
  Bytes guarded(kGuard + t.before.size() + kGuard, std::byte{0x5A});
  std::copy(t.before.begin(), t.before.end(), guarded.begin() + kGuard);
  const auto block_of = [&](const Bytes& bytes) {
    Block block(s.driver, static_cast<std::int64_t>(bytes.size()));
    block.upload(bytes);
    return block;
  };
  const Block a = block_of(t.a), b = block_of(t.b), out = block_of(guarded);
  const auto* raw = reinterpret_cast<const std::byte*>(ends.data());
  const Block offs = block_of(Bytes(raw, raw + ends.size() * 4));
  const auto at = [](const Block& block, std::uint64_t skip = 0) {
    return reinterpret_cast<void*>(block.address() + skip);  // NOLINT
  };
  Arguments arguments;
  arguments.add(matrix(t.gemm.a_name(), at(a), DType::bf16, t.rows, t.gemm.a_columns()));
  const auto cube = [&](std::string_view name, void* data, DType type) {
    return Tensor{name,
                  data,
                  type,
                  3,
                  {t.groups(), t.gemm.n, t.gemm.k, 0},
                  {t.gemm.n * t.gemm.k, t.gemm.k, 1, 0}};
  };
  arguments.add(t.wgrad() ? matrix("x", at(b), DType::bf16, t.rows, t.gemm.k)
                          : cube("w", at(b), DType::bf16));
  arguments.add(vector("offs", at(offs), DType::i32, t.groups()));
  arguments.add(
      t.wgrad()
          ? cube("dw", at(out, kGuard), t.gemm.out)
          : matrix(t.gemm.out_name(), at(out, kGuard), t.gemm.out, t.rows, t.gemm.out_columns()));
  BindOptions options;
  options.sm_limit = sm_limit;
  const Launch launch =
      service.prepare(Signature::parse(t.signature), s.device).bind(arguments, options);
  launch.run(s.stream.get());
  s.stream.synchronize("running a grouped GEMM");
  const Bytes after = out.download();
  const bool clean = std::all_of(after.begin(),
                                 after.begin() + kGuard,
                                 [](std::byte x) { return x == std::byte{0x5A}; }) &&
                     std::all_of(after.end() - kGuard, after.end(), [](std::byte x) {
                       return x == std::byte{0x5A};
                     });
  CHECK(clean);
  return {after.begin() + kGuard, after.end() - kGuard};
}

std::string reference_failure(const Trial& t, const Bytes& result) {
  std::vector<double> ends;
  double end = 0;
  for (const std::int64_t size : t.sizes) ends.push_back(end += static_cast<double>(size));
  std::vector<HostTensor> inputs{
      {std::string(t.gemm.a_name()), {t.rows, t.gemm.a_columns()}, decode(t.a, DType::bf16)},
      {std::string(t.gemm.b_name()), {}, decode(t.b, DType::bf16)},
      {"offs", {t.groups()}, ends}};
  if (t.gemm.accumulate) inputs.push_back({"dw", {}, decode(t.before, t.gemm.out)});
  const std::vector<Expected> expected = reference(Signature::parse(t.signature), t.rows, inputs);
  const TensorCheck check = compare(expected.front(), decode(result, t.gemm.out));
  if (check.passed()) return "";
  return "element " + std::to_string(check.worst_element) + " is " +
         std::to_string(check.worst_value) + ", not " + std::to_string(check.worst_expected);
}

}  // namespace kiln::grouped_gemm::testing
