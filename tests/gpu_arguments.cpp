// Bad arguments of a launch on a GPU are Error{invalid_argument}, whatever the route; the GPU is
// not touched.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <kiln/error.hpp>

#include "tests/gpu_fixture.hpp"
#include "tests/testing.hpp"
#include "tools/verify/case.hpp"
#include "tools/verify/device_case.hpp"

namespace {

using namespace kiln;
using namespace kiln::verify;
using kiln::testing::gpu;
using kiln::testing::variants;

// What binding says; empty when it accepts.
std::string refusal(const Prepared& prepared,
                    const Arguments& arguments,
                    const BindOptions& options = {}) {
  try {
    (void)prepared.bind(arguments, options);
    return {};
  } catch (const Error& error) {
    return error.code == ErrorCode::invalid_argument
               ? error.what()
               : "another error: " + std::string(error.what());
  }
}

bool refused(const std::string& text) { return text.rfind("invalid_argument", 0) == 0; }

void* moved(void* data, std::int64_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(data) +
                                 static_cast<std::uintptr_t>(bytes));
}

// A way to spoil one tensor of otherwise good arguments.
struct Fault {
  const char* name;
  std::function<void(Tensor&)> apply;
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all{
      {"a null pointer", [](Tensor& t) { t.data = nullptr; }},
      {"an address within an element", [](Tensor& t) { t.data = moved(t.data, 1); }},
      {"another type", [](Tensor& t) { t.type = t.type == DType::f32 ? DType::f16 : DType::f32; }},
      {"another rank", [](Tensor& t) { t.rank = t.rank == 1 ? 2 : 1; }},
      {"another width", [](Tensor& t) { t.shape[static_cast<std::size_t>(t.rank - 1)] += 3; }},
      {"a column stride", [](Tensor& t) { t.strides[static_cast<std::size_t>(t.rank - 1)] = 2; }},
      {"a negative size", [](Tensor& t) { t.shape[0] = -1; }},
  };
  return all;
}

TEST_CASE("a spoiled tensor is refused and named, and the launch it was meant for still works") {
  for (const std::string text :
       {"rms_norm_backward:n=1000,x=bf16,w=f32,residual=1", "rms_norm_backward:n=5,x=f32,w=none"}) {
    Case host(Signature::parse(text), {13, testing::seed() + 20, {}});
    DeviceCase device_case(gpu().driver, host);
    for (const testing::Variant& variant : variants(host.signature())) {
      const Arguments good = device_case.arguments();
      Launch launch = variant.prepared.bind(good);
      for (int i = 0; i < good.count; ++i) {
        for (const Fault& fault : faults()) {
          Arguments bad = good;
          Tensor& tensor = bad.tensors[static_cast<std::size_t>(i)];
          fault.apply(tensor);
          CAPTURE(text, variant.name, std::string(tensor.name), fault.name);
          const std::string said = refusal(variant.prepared, bad);
          CHECK(refused(said));
          CHECK_THAT(said, kiln::testing::contains(std::string(tensor.name)));
          CHECK_THROWS_AS(launch.rebind(bad), Error);
        }
      }
      launch.run(gpu().stream.get());
      gpu().stream.synchronize("running after refused arguments");
      CHECK(device_case.check().failures() == "");
      device_case.reset();
    }
  }
}

TEST_CASE("a missing or unknown tensor is refused") {
  Case host(Signature::parse("rms_norm_backward:n=64,x=bf16,w=bf16"),
            {4, testing::seed() + 21, {}});
  DeviceCase device_case(gpu().driver, host);
  for (const testing::Variant& variant : variants(host.signature())) {
    CAPTURE(variant.name);
    const Arguments good = device_case.arguments();
    Arguments extra = good;
    extra.add(vector("bogus", good.tensors[0].data, DType::f32, 4));
    CHECK(refused(refusal(variant.prepared, extra)));
    for (int missing = 0; missing < good.count; ++missing) {
      Arguments fewer;
      for (int i = 0; i < good.count; ++i) {
        if (i != missing) fewer.add(good.tensors[static_cast<std::size_t>(i)]);
      }
      CHECK(refused(refusal(variant.prepared, fewer)));
    }
  }
}

TEST_CASE("an output that overlaps an input or another output is refused") {
  Case host(Signature::parse("rms_norm_backward:n=64,x=f32,w=f32,residual=1"),
            {8, testing::seed() + 22, {}});
  DeviceCase device_case(gpu().driver, host);
  const std::vector<Layout>& layouts = host.layouts();
  for (const testing::Variant& variant : variants(host.signature())) {
    const Arguments good = device_case.arguments();
    for (std::size_t out = 0; out < layouts.size(); ++out) {
      if (layouts[out].role == Role::input) continue;
      for (std::size_t other = 0; other < layouts.size(); ++other) {
        if (other == out) continue;
        CAPTURE(variant.name, layouts[out].name, layouts[other].name);
        Arguments bad = good;
        bad.tensors[out].data = good.tensors[other].data;
        CHECK(refused(refusal(variant.prepared, bad)));
        // By the last element alone.
        bad.tensors[out].data =
            moved(good.tensors[other].data, 4 * (layouts[other].elements() - 1));
        CHECK(refused(refusal(variant.prepared, bad)));
      }
    }
  }
}

TEST_CASE("a workspace that is too small, null or misaligned is refused") {
  Case host(Signature::parse("rms_norm_backward:n=4096,x=bf16,w=bf16"),
            {64, testing::seed() + 23, {}});
  DeviceCase device_case(gpu().driver, host);
  for (const testing::Variant& variant : variants(host.signature())) {
    CAPTURE(variant.name);
    const Workspace good = variant.prepared.make_workspace();
    if (good.bytes == 0) continue;
    const auto with = [&](Workspace workspace) {
      BindOptions options;
      options.workspace = std::move(workspace);
      return refusal(variant.prepared, device_case.arguments(), options);
    };
    CHECK(with(good).empty());
    CHECK(refused(with({good.data, good.bytes - 1, good.owner})));
    CHECK(refused(with({nullptr, good.bytes, nullptr})));
    CHECK(refused(with({moved(good.data, 16), good.bytes, good.owner})));
  }
}

}  // namespace
