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

namespace {

constexpr std::size_t kGuard = 4096;

Block block_of(const Bytes& bytes) {
  Block block(setting().driver, static_cast<std::int64_t>(bytes.size()));
  block.upload(bytes);
  return block;
}

Bytes guarded(const Bytes& bytes) {
  Bytes out(kGuard + bytes.size() + kGuard, std::byte{0x5A});
  std::copy(bytes.begin(), bytes.end(), out.begin() + kGuard);
  return out;
}

Bytes offsets_of(const Trial& t) {
  std::vector<std::int32_t> ends;
  std::int32_t end = 0;
  for (const std::int64_t size : t.sizes) ends.push_back(end += static_cast<std::int32_t>(size));
  const auto* raw = reinterpret_cast<const std::byte*>(ends.data());
  return {raw, raw + ends.size() * 4};
}

// A trial in device memory, bound.
class Bound {
 public:
  Bound(const Trial& t, Service& service, int sm_limit)
      : before_(guarded(t.before)),
        a_(block_of(t.a)),
        b_(block_of(t.b)),
        offs_(block_of(offsets_of(t))),
        out_(block_of(before_)),
        launch_(service.prepare(Signature::parse(t.signature), setting().device)
                    .bind(arguments(t), BindOptions{.sm_limit = sm_limit})) {}

  void launch(const Stream& stream) const { launch_.run(stream.get()); }
  void reset() { out_.upload(before_); }
  [[nodiscard]] Bytes output() const {
    const Bytes after = out_.download();
    const auto intact = [](std::byte x) { return x == std::byte{0x5A}; };
    const bool clean = std::all_of(after.begin(), after.begin() + kGuard, intact) &&
                       std::all_of(after.end() - kGuard, after.end(), intact);
    CHECK(clean);
    return {after.begin() + kGuard, after.end() - kGuard};
  }

 private:
  [[nodiscard]] Arguments arguments(const Trial& t) const {
    const auto at = [](const Block& block, std::uint64_t skip = 0) {
      return reinterpret_cast<void*>(block.address() + skip);  // NOLINT
    };
    const auto cube = [&](std::string_view name, void* data, DType type) {
      return Tensor{name,
                    data,
                    type,
                    3,
                    {t.groups(), t.gemm.n, t.gemm.k, 0},
                    {t.gemm.n * t.gemm.k, t.gemm.k, 1, 0}};
    };
    Arguments out;
    out.add(matrix(t.gemm.a_name(), at(a_), DType::bf16, t.rows, t.gemm.a_columns()));
    out.add(t.wgrad() ? matrix("x", at(b_), DType::bf16, t.rows, t.gemm.k)
                      : cube("w", at(b_), DType::bf16));
    out.add(vector("offs", at(offs_), DType::i32, t.groups()));
    out.add(
        t.wgrad()
            ? cube("dw", at(out_, kGuard), t.gemm.out)
            : matrix(
                  t.gemm.out_name(), at(out_, kGuard), t.gemm.out, t.rows, t.gemm.out_columns()));
    return out;
  }

  Bytes before_;
  Block a_, b_, offs_, out_;
  Launch launch_;
};

}  // namespace

Bytes run(const Trial& t, Service& service, int sm_limit) {
  const Bound bound(t, service, sm_limit);
  bound.launch(setting().stream);
  setting().stream.synchronize("running a grouped GEMM");
  return bound.output();
}

int differing_runs(const Trial& t, const Trial& load, Service& service, int times) {
  Setting& s = setting();
  Bound subject(t, service, 0), other(load, service, 0);
  const Stream beside(s.driver);
  const Bytes wanted = run(t, service);
  int differing = 0;
  for (int i = 0; i < times; ++i) {
    subject.reset();
    other.launch(beside);
    subject.launch(s.stream);
    if (i % 2 != 0) other.launch(beside);
    s.stream.synchronize("running a grouped GEMM beside another");
    differing += subject.output() == wanted ? 0 : 1;
  }
  beside.synchronize("running the load");
  return differing;
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
