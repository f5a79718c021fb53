// Compiling with this machine's NVRTC: hermetic, reproducible, and honest about failures.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <kiln/error.hpp>

#include "src/core/digest.hpp"
#include "src/cuda/mapped_files.hpp"
#include "src/cuda/nvrtc.hpp"
#include "tests/cuda_fixtures.hpp"
#include "tests/testing.hpp"

namespace fs = std::filesystem;

namespace kiln {
namespace {

using testing::closure_of;
using testing::compile_text;
using testing::contains;
using testing::TempFolder;

const std::string kAdd =
    "extern \"C\" __global__ void add(float* p) {\n"
    "  __shared__ float s[64];\n"
    "  s[threadIdx.x] = p[threadIdx.x];\n"
    "  __syncthreads();\n"
    "  p[threadIdx.x] += s[63 - threadIdx.x];\n"
    "}\n";

CompileResult compile_for(const Closure& closure, const Arch& arch, bool ptx = false) {
  const CompileOptions options = CompileOptions::standard();
  return compile(
      testing::machine_nvrtc(),
      {.closure = closure, .options = options, .arch = arch, .seed = "5eed", .ptx = ptx});
}

// The error of a source that must not compile.
std::string failure_of(const Closure& closure, const Arch& arch = {9, 0, 'a'}) {
  try {
    (void)compile_for(closure, arch);
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::compile_failed);
    return error.detail;
  }
  FAIL("it compiled");
  return "";
}

std::string image_hash(const CompileResult& result) {
  return hex(sha256(std::span(result.cubin.image)));
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_CASE("a kernel compiles to a cubin whose resource use is known", "[nvrtc]") {
  const CompileResult result = compile_text(kAdd, "add");
  CHECK(result.cubin.entry == "add");
  CHECK(text_of(result.cubin.image).substr(1, 3) == "ELF");
  CHECK(result.cubin.registers > 0);
  CHECK(result.cubin.registers < 64);
  CHECK(result.cubin.static_smem_bytes == 256);
  CHECK(result.cubin.spill_bytes == 0);
  CHECK(result.cubin.stack_bytes == 0);
  CHECK(result.ms > 0);
}

TEST_CASE("every architecture that kiln plans for compiles", "[nvrtc]") {
  const Closure closure = closure_of(kAdd, "add");
  for (const DeviceLimits& limits : known_limits()) {
    INFO(limits.arch.text());
    CHECK(compile_for(closure, limits.arch).cubin.registers > 0);
  }
}

TEST_CASE("PTX is made for the virtual architecture", "[nvrtc]") {
  const CompileResult result = compile_for(closure_of(kAdd, "add"), {8, 0, '\0'}, true);
  CHECK_THAT(text_of(result.cubin.image), contains(".target sm_80"));
  CHECK_THAT(text_of(result.cubin.image), contains(".entry add("));
}

// Names with internal linkage: a compiler may make them unique with a random number.
const std::string kLocalNames =
    "namespace { __device__ int calls; __constant__ float scale[2]; }\n"
    "static __device__ __noinline__ float bend(float x) { return sinf(x) * scale[1]; }\n"
    "extern \"C\" __global__ void count(float* p) { p[0] = bend(p[0]) + atomicAdd(&calls, 1); }\n";

std::string hash_of_local_names() { return image_hash(compile_text(kLocalNames, "count")); }

TEST_CASE("print the hash of a compiled kernel", "[nvrtc][.child]") {
  const std::string hash = hash_of_local_names();
  CHECK(hash.size() == 64);
  std::printf("hash %s\n", hash.c_str());
}

TEST_CASE("the same request gives the same bytes in every process and thread", "[nvrtc]") {
  const std::string here = hash_of_local_names();
  for (int round = 0; round < 2; ++round) {
    const testing::ChildResult child =
        testing::run_hidden_test("print the hash of a compiled kernel", {});
    INFO(child.output);
    REQUIRE(child.status == 0);
    CHECK_THAT(child.output, contains("hash " + here));
  }
  std::vector<std::string> hashes(4);
  std::vector<std::thread> threads;
  for (std::string& hash : hashes) {
    threads.emplace_back([&hash] { hash = hash_of_local_names(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& hash : hashes) CHECK(hash == here);
}

TEST_CASE("another source gives other bytes", "[nvrtc]") {
  std::string other = kAdd;
  other.replace(other.find("63 -"), 4, "62 -");
  CHECK(image_hash(compile_text(other, "add")) != image_hash(compile_text(kAdd, "add")));
}

TEST_CASE("headers of the closure are found by their virtual path", "[nvrtc]") {
  const Closure closure = closure_of(
      "#include \"templates/two.cuh\"\n"
      "extern \"C\" __global__ void k(int* p) { p[0] = two(); }\n",
      "k",
      {{"templates/two.cuh", "__device__ inline int two() { return 2; }\n"}});
  CHECK(compile_for(closure, {9, 0, 'a'}).cubin.entry == "k");
}

TEST_CASE("an include outside the closure is an error even when the working folder has the file",
          "[nvrtc]") {
  const TempFolder folder;
  (void)folder.write("near.cuh", "__device__ inline int near_by() { return 1; }\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  for (const char* include : {"\"near.cuh\"", "<near.cuh>", "\"./near.cuh\""}) {
    INFO(include);
    const std::string detail = failure_of(
        closure_of(std::string("#include ") + include +
                       "\nextern \"C\" __global__ void k(int* p) { p[0] = near_by(); }\n",
                   "k"));
    CHECK_THAT(detail, contains("near.cuh"));
    CHECK_THAT(detail, contains("could not open source file"));
  }
  fs::current_path(before);
}

TEST_CASE("a compile error shows the log, the options, the versions and the source", "[nvrtc]") {
  const std::string detail = failure_of(
      closure_of("extern \"C\" __global__ void broken(int* p) { p[0] = nonsense; }\n", "broken"));
  CHECK_THAT(detail, contains("cannot compile broken for sm_90a"));
  CHECK_THAT(detail, contains("identifier \"nonsense\" is undefined"));
  CHECK_THAT(detail, contains("kiln.cu(1)"));
  CHECK_THAT(detail, contains("--fmad=false"));
  CHECK_THAT(detail, contains("--gpu-architecture=sm_90a"));
  CHECK_THAT(detail, contains(testing::machine_nvrtc().id.text()));
  CHECK_THAT(detail, contains("void broken(int* p)"));
}

TEST_CASE("an architecture NVRTC does not know is refused with those it knows", "[nvrtc]") {
  const std::string detail = failure_of(closure_of(kAdd, "add"), {7, 0, '\0'});
  CHECK_THAT(detail, contains("compiles for sm_75, sm_80"));
  CHECK_THAT(detail, contains("sm_70"));
}

TEST_CASE("an entry the source does not define is an error that names what it defines", "[nvrtc]") {
  CHECK_THAT(failure_of(closure_of(kAdd, "subtract")),
             contains("no such extern \"C\" kernel, only: add"));
  const Closure mangled = closure_of("__global__ void add(float* p) { p[0] = 1; }\n", "add");
  CHECK_THAT(failure_of(mangled), contains("only: _Z3addPf"));
}

TEST_CASE("a source without a named entry may define several", "[nvrtc]") {
  const CompileResult result = compile_text(
      kAdd + "extern \"C\" __global__ void zero(float* p) { p[threadIdx.x] = 0; }\n", "");
  CHECK(result.cubin.entry.empty());
  Cubin use;
  REQUIRE(read_resource_use(result.log, "add", use));
  CHECK(use.static_smem_bytes == 256);
  REQUIRE(read_resource_use(result.log, "zero", use));
  CHECK(use.static_smem_bytes == 0);
  CHECK_FALSE(read_resource_use(result.log, "ad", use));
}

TEST_CASE("a kernel that spills says so", "[nvrtc]") {
  // 64 live values and 32 registers.
  const CompileResult result = compile_text(
      "extern \"C\" __global__ void __launch_bounds__(1024, 2) spills(const float* in, float* out) "
      "{\n"
      "  float a[64];\n"
      "  #pragma unroll\n"
      "  for (int i = 0; i < 64; ++i) a[i] = in[i * 1024 + threadIdx.x];\n"
      "  __syncthreads();\n"
      "  #pragma unroll\n"
      "  for (int i = 0; i < 64; ++i) out[(63 - i) * 1024 + threadIdx.x] = a[i] * a[63 - i];\n"
      "}\n",
      "spills");
  CHECK(result.cubin.spill_bytes > 0);
  CHECK(result.cubin.stack_bytes > 0);
  CHECK(result.cubin.registers <= 32);
}

TEST_CASE("NVRTC cannot be loaded without its builtins or with something else in its place",
          "[nvrtc]") {
  const TempFolder folder;
  const ToolchainFiles machine = testing::machine_toolchain();
  const auto code_of = [](const ToolchainFiles& files) {
    try {
      (void)Nvrtc::load(files);
    } catch (const Error& error) {
      return std::pair(error.code, error.detail);
    }
    return std::pair(ErrorCode::internal, std::string("loaded"));
  };
  ToolchainFiles files = machine;
  files.builtins_path = (folder.path() / "libnvrtc-builtins.so.13.0").string();
  auto [code, detail] = code_of(files);
  CHECK(code == ErrorCode::nvrtc_missing);
  CHECK_THAT(detail, contains("No such file"));

  files = machine;
  files.nvrtc_path = folder.write("libnvrtc.so.13", testing::elf_library("n"));
  std::tie(code, detail) = code_of(files);
  CHECK(code == ErrorCode::nvrtc_missing);
  CHECK_THAT(detail, contains("set KILN_NVRTC"));

  files = machine;
  files.nvrtc_path = machine.builtins_path;
  std::tie(code, detail) = code_of(files);
  CHECK(code == ErrorCode::nvrtc_missing);
  CHECK_THAT(detail, contains("has no function nvrtcVersion"));
}

TEST_CASE("what was mapped is checked to be what was identified", "[nvrtc]") {
  ToolchainFiles files = testing::machine_toolchain();
  const Nvrtc& nvrtc = testing::machine_nvrtc();
  CHECK(nvrtc.uncacheable_reason.empty());
  (void)compile_text(kAdd, "add");  // may open builtins of its own choice
  const auto* function = reinterpret_cast<const void*>(nvrtc.version);
  CHECK(mapped_files_problem(files, function).empty());

  files.id.nvrtc_id = "00";
  CHECK_THAT(mapped_files_problem(files, function),
             contains("is not the file that was identified"));
  CHECK_THAT(Nvrtc::load(files).uncacheable_reason,
             contains("is not the file that was identified"));
}

// A copy of the builtins with another build-id under the same name, loaded first, answers NVRTC's
// dlopen.
TEST_CASE("load other builtins before NVRTC", "[nvrtc][.child]") {
  const char* other = std::getenv("KILN_TEST_BUILTINS");
  REQUIRE(other != nullptr);
  REQUIRE(::dlopen(other, RTLD_NOW) != nullptr);
  const Nvrtc nvrtc = Nvrtc::load(testing::machine_toolchain());
  CHECK_THAT(nvrtc.uncacheable_reason, contains("other NVRTC builtins are loaded in this process"));
  CHECK_THAT(nvrtc.uncacheable_reason, contains(other));
}

TEST_CASE("foreign builtins in the process make compiles uncacheable, with a reason", "[nvrtc]") {
  const ToolchainFiles files = testing::machine_toolchain();
  std::string bytes = testing::read_bytes(files.builtins_path);
  if (files.id.builtins_id.starts_with("sha256:")) return;
  std::string id;
  for (std::size_t at = 0; at + 1 < files.id.builtins_id.size(); at += 2) {
    id += static_cast<char>(std::stoi(files.id.builtins_id.substr(at, 2), nullptr, 16));
  }
  const std::size_t at = bytes.find(id);
  REQUIRE(at != std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] + 1);
  const TempFolder folder;
  const std::string copy = folder.write(fs::path(files.builtins_path).filename().string(), bytes);
  const testing::ChildResult child =
      testing::run_hidden_test("load other builtins before NVRTC", {{"KILN_TEST_BUILTINS", copy}});
  INFO(child.output);
  CHECK(child.status == 0);
}

}  // namespace
}  // namespace kiln
