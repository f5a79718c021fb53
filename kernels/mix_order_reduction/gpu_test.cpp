// Kernels on a GPU against the emulation on the host: every bit, by every route.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <kiln/service.hpp>

#include "kernels/mix_order_reduction/emulate.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "src/cuda/driver.hpp"
#include "tests/testing.hpp"
#include "tools/verify/case.hpp"
#include "tools/verify/device.hpp"
#include "tools/verify/device_case.hpp"
#include "tools/verify/element.hpp"
#include "tools/verify/image.hpp"

namespace {

using namespace kiln;
namespace mix = kiln::mix_order_reduction;

Options options(bool multi_stages, RouteChoice route) {
  Options out;
  out.policy = Policy::from_env();
  out.policy.cache_dir.clear();
  out.policy.allow_multi_stages = multi_stages;
  out.policy.max_stages.reset();
  out.policy.strict = true;
  out.route = route;
  return out;
}

// The outputs of a case as the emulation has them, in the order of the problem's tensors.
verify::Bits emulated(const verify::Case& host) {
  const Signature& signature = host.signature();
  std::vector<HostTensor> tensors;
  for (std::size_t i = 0; i < host.problem().tensors.size(); ++i) {
    const TensorSpec& spec = host.problem().tensors[i];
    if (spec.role == Role::output) continue;
    tensors.push_back({spec.name, spec.shape, verify::decode(host.layouts()[i], host.images()[i])});
  }
  const mix::Op op = mix::Op::from(signature);
  verify::Bits out;
  for (const HostTensor& t : mix::emulate(op.program, op.n, host.options().rows, tensors)) {
    for (const TensorSpec& spec : host.problem().tensors) {
      if (spec.name != t.name) continue;
      const auto size = static_cast<std::size_t>(size_bytes(spec.type));
      std::vector<std::byte> bytes(t.values.size() * size);
      for (std::size_t i = 0; i < t.values.size(); ++i)
        verify::store(spec.type, t.values[i], bytes.data() + i * size);
      out.emplace_back(t.name, std::move(bytes));
    }
  }
  return out;
}

TEST_CASE("kernels give the bits of the emulation by every route") {
  const Driver driver = Driver::load();
  const verify::CurrentDevice current(driver, 0);
  const verify::Stream stream(driver);
  Service one_stage(options(false, RouteChoice::automatic));
  Service many_stages(options(true, RouteChoice::automatic));
  Service composed(options(false, RouteChoice::composed));
  const Device device = one_stage.device(0);
  int runs = 0;
  for (const std::string text : {"rms_norm_backward:n=1,x=f32",
                                 "rms_norm_backward:n=16",
                                 "rms_norm_backward:n=253,x=f16,w=f32,residual=1",
                                 "rms_norm_backward:n=2880,accumulate=1",
                                 "rms_norm_backward:n=4096,w=none",
                                 "rms_norm_backward:n=16384,x=f32",
                                 "rms_norm_backward:n=32768",
                                 "layer_norm_backward:n=1",
                                 "layer_norm_backward:n=5,x=f32,db=none",
                                 "layer_norm_backward:n=16,x=f16,dw=none",
                                 "layer_norm_backward:n=128,w=none,residual=1",
                                 "layer_norm_backward:n=1000,w=none,db=f32",
                                 "layer_norm_backward:n=2049,x=f16,w=f32,residual=1",
                                 "layer_norm_backward:n=4096,accumulate=1",
                                 "layer_norm_backward:n=5120,x=f32",
                                 "layer_norm_backward:n=7168",
                                 "layer_norm_backward:n=16384",
                                 "layer_norm_backward:n=13120,db=none",
                                 "layer_norm_backward:n=32768,x=f32,residual=1",
                                 "rms_norm_backward:n=300,gated=1,offset=1,x=f32,w=bf16",
                                 "rms_norm_backward:n=2049,gated=1,residual=1",
                                 "rms_norm_backward:n=4096,gated=1,w=none",
                                 "rms_norm_backward:n=8192,offset=1,accumulate=1",
                                 "rms_norm_forward:n=1,residual=1",
                                 "rms_norm_forward:n=99,x=f32,offset=1",
                                 "rms_norm_forward:n=4096",
                                 "rms_norm_forward:n=7000,residual=1,x=f16",
                                 "rms_norm_forward:n=32768,residual=1,w=none",
                                 "layer_norm_forward:n=77,w=none",
                                 "layer_norm_forward:n=2880,x=f16,residual=1,w=f32,b=none",
                                 "layer_norm_forward:n=4096",
                                 "layer_norm_forward:n=32768",
                                 "softmax_backward:n=77,x=f32",
                                 "softmax_backward:n=1024,dbias=f32",
                                 "softmax_backward:n=8192,dbias=bf16,accumulate=1",
                                 "softmax_backward:n=40000,dbias=f32",
                                 "adaln_backward:n=1152",
                                 "adaln_backward:n=3072,x=f32,scale=f32,accumulate=1,residual=1",
                                 "bias_backward:n=7,x=f32",
                                 "bias_backward:n=4096,db=f32,accumulate=1",
                                 "rms_norm_pair_backward:n=100,accumulate=1",
                                 "rms_norm_pair_backward:n=2048",
                                 "rms_norm_pair_backward:n=8192,x=f32,residual=1",
                                 "absmax:n=33,x=f16",
                                 "absmax:n=4096",
                                 "absmax:n=16384,x=f32"}) {
    const Signature signature = Signature::parse(text);
    for (const std::int64_t rows : {1, 13, 300}) {
      verify::Case host(signature, {rows, 17, {}});
      const verify::Bits wanted = emulated(host);
      verify::DeviceCase device_case(driver, host);
      for (Service* service : {&one_stage, &many_stages, &composed}) {
        const Prepared prepared = service->prepare(signature, device);
        CAPTURE(text, rows, prepared.plan().stages.at(0).entry);
        const verify::Verdict verdict = verify::run_and_check(device_case, prepared, stream);
        CHECK(verdict.failures() == "");
        CHECK(verify::first_difference(wanted, verdict.bits) == "");
        ++runs;
      }
    }
  }
  std::printf("%d runs: the bits of the emulation\n", runs);
}

TEST_CASE("every candidate gives the bits of the emulation") {
  const Driver driver = Driver::load();
  const verify::CurrentDevice current(driver, 0);
  const verify::Stream stream(driver);
  const Device device = Service(options(false, RouteChoice::automatic)).device(0);
  int runs = 0;
  for (const std::string text : {"rms_norm_backward:n=16",
                                 "rms_norm_backward:n=253,x=f16,w=f32,residual=1",
                                 "rms_norm_backward:n=4096",
                                 "layer_norm_backward:n=1000",
                                 "layer_norm_backward:n=2880,accumulate=1",
                                 "layer_norm_backward:n=16384",
                                 "layer_norm_backward:n=32768",
                                 "rms_norm_forward:n=7000,residual=1,x=f16",
                                 "softmax_backward:n=1024,dbias=f32",
                                 "rms_norm_pair_backward:n=8192,x=f32,residual=1",
                                 "absmax:n=4096"}) {
    const Signature signature = Signature::parse(text);
    // Enough rows that a block of any number of rows a step has several steps, and a last one that
    // is not full.
    const std::int64_t n = signature.integer("n"), rows = n <= 1024 ? 9001 : n > 16384 ? 801 : 1601;
    verify::Case host(signature, {rows, 29, {}});
    const verify::Bits wanted = emulated(host);
    verify::DeviceCase device_case(driver, host);
    for (const std::string& name :
         Service(options(false, RouteChoice::automatic)).candidates(signature, device.arch)) {
      for (const bool multi_stages : {false, true}) {
        Options given = options(multi_stages, RouteChoice::automatic);
        given.policy.candidate = name;
        Service service(std::move(given));
        const Prepared prepared = service.prepare(signature, device);
        CAPTURE(text, name, multi_stages);
        const verify::Verdict verdict = verify::run_and_check(device_case, prepared, stream);
        CHECK(verdict.failures() == "");
        CHECK(verify::first_difference(wanted, verdict.bits) == "");
        ++runs;
      }
    }
  }
  std::printf("%d runs of candidates: the bits of the emulation\n", runs);
}

TEST_CASE("reductions beside another stream's work repeat their bits") {
  const Driver driver = Driver::load();
  const verify::CurrentDevice current(driver, 0);
  const verify::Stream stream(driver), beside(driver);
  const Device device = Service(options(false, RouteChoice::automatic)).device(0);
  Service one_stage(options(false, RouteChoice::automatic));
  Service many_stages(options(true, RouteChoice::automatic));
  Service composed(options(false, RouteChoice::composed));
  const int times = kiln::testing::soaking() ? 1000 : 20;
  verify::Case other(Signature::parse("layer_norm_backward:n=2880"), {4000, 31, {}});
  verify::DeviceCase load(driver, other);
  load.bind(one_stage.prepare(other.signature(), device));
  int runs = 0;
  for (const std::string text : {"rms_norm_backward:n=128",
                                 "rms_norm_backward:n=4096,accumulate=1",
                                 "layer_norm_backward:n=2880",
                                 "layer_norm_backward:n=20480",
                                 "softmax_backward:n=1024,dbias=f32",
                                 "rms_norm_forward:n=7168,residual=1"}) {
    verify::Case host(Signature::parse(text), {300, 37, {}});
    verify::DeviceCase subject(driver, host);
    verify::Bits wanted;
    for (Service* service : {&one_stage, &many_stages, &composed}) {
      subject.bind(service->prepare(host.signature(), device));
      int differing = 0;
      for (int i = 0; i < times; ++i) {
        subject.reset();
        load.launch().run(beside.get());
        if (i % 3 == 0) load.launch().run(beside.get());
        subject.run(stream);
        const verify::Bits bits = subject.bits();
        if (wanted.empty()) wanted = bits;
        differing += verify::first_difference(wanted, bits).empty() ? 0 : 1;
        ++runs;
      }
      CAPTURE(text, times);
      CHECK(differing == 0);
    }
  }
  beside.synchronize("running the load");
  std::printf("%d runs of reductions under load: one result a signature\n", runs);
}

}  // namespace
