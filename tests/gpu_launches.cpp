// Launches beyond a single run: graphs, clones on other streams, new arguments, more than one
// thread.
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/gpu_fixture.hpp"
#include "tests/testing.hpp"
#include "tools/verify/case.hpp"
#include "tools/verify/device_case.hpp"

namespace {

using namespace kiln;
using namespace kiln::verify;
using kiln::testing::gpu;
using kiln::testing::variants;

// Graph calls are no part of kiln, so they are found here. Names carry their version, as the driver
// exports them.
struct Graphs {
  template <class Function>
  static Function* find(const char* name) {
    void* symbol = gpu().driver.library.symbol(name);
    REQUIRE(symbol != nullptr);
    return reinterpret_cast<Function*>(symbol);
  }
  CUresult (*begin)(CUstream, CUstreamCaptureMode) =
      find<CUresult(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture_v2");
  CUresult (*end)(CUstream, CUgraph*) = find<CUresult(CUstream, CUgraph*)>("cuStreamEndCapture");
  CUresult (*instantiate)(CUgraphExec*, CUgraph, unsigned long long) =
      find<CUresult(CUgraphExec*, CUgraph, unsigned long long)>("cuGraphInstantiateWithFlags");
  CUresult (*launch)(CUgraphExec,
                     CUstream) = find<CUresult(CUgraphExec, CUstream)>("cuGraphLaunch");
  CUresult (*destroy_exec)(CUgraphExec) = find<CUresult(CUgraphExec)>("cuGraphExecDestroy");
  CUresult (*destroy)(CUgraph) = find<CUresult(CUgraph)>("cuGraphDestroy");
};

TEST_CASE("a captured graph replays with the same bits as a run") {
  const Graphs graphs;
  for (const Signature& signature : testing::signatures()) {
    Case host(signature, {257, testing::seed() + 10, {}});
    for (const testing::Variant& variant : variants(signature)) {
      CAPTURE(signature.text(), variant.name, testing::seed());
      DeviceCase device_case(gpu().driver, host);
      const Verdict direct = run_and_check(device_case, variant.prepared, gpu().stream);
      CUgraph graph = nullptr;
      CUgraphExec exec = nullptr;
      REQUIRE(graphs.begin(gpu().stream.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) ==
              CUDA_SUCCESS);
      device_case.launch().run(gpu().stream.get());
      REQUIRE(graphs.end(gpu().stream.get(), &graph) == CUDA_SUCCESS);
      REQUIRE(graphs.instantiate(&exec, graph, 0) == CUDA_SUCCESS);
      for (int i = 0; i < 3; ++i) {
        device_case.reset();
        REQUIRE(graphs.launch(exec, gpu().stream.get()) == CUDA_SUCCESS);
        gpu().stream.synchronize("replaying a graph");
        const Verdict replayed = device_case.check();
        CHECK(replayed.failures() == "");
        CHECK(first_difference(direct.bits, replayed.bits) == "");
      }
      graphs.destroy_exec(exec);
      graphs.destroy(graph);
    }
  }
  std::printf("captured graphs of %zu signatures replay\n", testing::signatures().size());
}

TEST_CASE("clones on two streams at once do not disturb or block each other") {
  for (const std::string text :
       {"rms_norm_backward:n=4096,x=bf16,w=bf16", "rms_norm_backward:n=128,x=bf16,w=bf16"}) {
    const Signature signature = Signature::parse(text);
    Case left_host(signature, {1000, testing::seed() + 11, {}});
    Case right_host(signature, {1000, testing::seed() + 12, {}});
    for (const testing::Variant& variant : variants(signature)) {
      CAPTURE(text, variant.name, testing::seed());
      DeviceCase left(gpu().driver, left_host);
      DeviceCase right(gpu().driver, right_host);
      left.bind(variant.prepared);
      left.reset();
      right.reset();
      Launch other = left.launch().clone();
      other.rebind(right.arguments());
      const Stream second(gpu().driver);
      for (int i = 0; i < 50; ++i) {
        left.launch().run(gpu().stream.get());
        other.run(second.get());
      }
      gpu().stream.synchronize("running on the first stream");
      second.synchronize("running on the second stream");
      CHECK(left.check().failures() == "");
      CHECK(right.check().failures() == "");
    }
  }
}

TEST_CASE("a launch can be bound to other pointers, rows and strides") {
  for (const Signature& signature : testing::signatures()) {
    Case first_host(signature, {100, testing::seed() + 13, {}});
    Case second_host(signature, {731, testing::seed() + 14, {16, 0}});
    for (const testing::Variant& variant : variants(signature)) {
      CAPTURE(signature.text(), variant.name, testing::seed());
      DeviceCase first(gpu().driver, first_host);
      DeviceCase second(gpu().driver, second_host);
      Launch launch = variant.prepared.bind(first.arguments());
      launch.run(gpu().stream.get());
      launch.rebind(second.arguments());
      launch.run(gpu().stream.get());
      gpu().stream.synchronize("running after a rebind");
      CHECK(first.check().failures() == "");
      CHECK(second.check().failures() == "");
    }
  }
}

TEST_CASE("a thread that has no current context binds, binds anew and runs") {
  for (const Signature& signature : testing::signatures()) {
    Case host(signature, {64, testing::seed() + 16, {}});
    DeviceCase device_case(gpu().driver, host);
    const testing::Variant variant = variants(signature).front();
    CAPTURE(signature.text(), variant.name, testing::seed());
    device_case.reset();
    std::string failure;
    std::jthread([&] {
      try {
        Launch launch = variant.prepared.bind(device_case.arguments());
        launch.rebind(device_case.arguments());
        launch.run(gpu().stream.get());
      } catch (const std::exception& error) {
        failure = error.what();
      }
    }).join();
    CHECK(failure == "");
    gpu().stream.synchronize("running what another thread launched");
    CHECK(device_case.check().failures() == "");
  }
}

TEST_CASE("threads preparing and running at once all get right results") {
  const Signature signature = Signature::parse("rms_norm_backward:n=2880,x=bf16,w=bf16");
  Options options = gpu().one_stage.options();
  Service fresh(options);
  std::vector<std::string> failures(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < failures.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          const CurrentDevice current(gpu().driver, 0);
          const Stream stream(gpu().driver);
          Case host(signature, {100 + static_cast<std::int64_t>(i), testing::seed() + 15 + i, {}});
          DeviceCase device_case(gpu().driver, host);
          failures[i] =
              run_and_check(device_case, fresh.prepare(signature, gpu().device), stream).failures();
        } catch (const std::exception& error) {
          failures[i] = error.what();
        }
      });
    }
  }
  for (const std::string& failure : failures) CHECK(failure == "");
}

}  // namespace
