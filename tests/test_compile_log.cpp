// Reading the compiler's log, and what compile() makes of an NVRTC that misbehaves: a table filled
// by hand.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include <kiln/error.hpp>

#include "src/cuda/nvrtc.hpp"
#include "tests/cuda_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using testing::contains;

// NVRTC 13.0, two entries of one program; `helper` is called by `small`.
constexpr std::string_view kLog = R"(ptxas info    : 24 bytes gmem, 8 bytes cmem[4]
ptxas info    : Compiling entry function 'spills' for 'sm_80'
ptxas info    : Function properties for spills
ptxas         .     1232 bytes stack frame, 3224 bytes spill stores, 12780 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 1232 bytes cumulative stack size, 360 bytes cmem[0]
ptxas info    : Compile time = 5372.963 ms
ptxas info    : Compiling entry function 'small' for 'sm_80'
ptxas info    : Function properties for small
ptxas         .     32 bytes stack frame, 2 bytes spill stores, 6 bytes spill loads
ptxas info    : Used 18 registers, used 1 barriers, 32 bytes cumulative stack size, 128 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 16.173 ms
ptxas info    : Function properties for helper
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
)";

TEST_CASE("each entry's resource use is read from the log of a program with several", "[nvrtc]") {
  Cubin use;
  REQUIRE(read_resource_use(kLog, "spills", use));
  CHECK(use.registers == 32);
  CHECK(use.spill_bytes == 3224 + 12780);
  CHECK(use.stack_bytes == 1232);
  CHECK(use.static_smem_bytes == 0);
  REQUIRE(read_resource_use(kLog, "small", use));
  CHECK(use.registers == 18);
  CHECK(use.static_smem_bytes == 128);
  CHECK(use.stack_bytes == 32);
}

TEST_CASE("spills of a function that an entry calls are the entry's", "[nvrtc]") {
  Cubin use;
  REQUIRE(read_resource_use(kLog, "small", use));
  CHECK(use.spill_bytes == 2 + 6 + 4 + 12);
}

TEST_CASE("a log that does not tell leaves the numbers alone", "[nvrtc]") {
  Cubin use{.image = {}, .entry = "k", .registers = 7};
  const Cubin before = use;
  CHECK_FALSE(read_resource_use("", "small", use));
  CHECK_FALSE(read_resource_use(kLog, "helper", use));
  CHECK_FALSE(read_resource_use(kLog, "smal", use));
  CHECK_FALSE(read_resource_use(
      "ptxas info    : Compiling entry function 'small' for 'sm_80'\n", "small", use));
  // Cut off anywhere: never half the truth.
  for (std::size_t size = 0; size < kLog.size(); ++size) {
    Cubin cut = before;
    if (!read_resource_use(kLog.substr(0, size), "spills", cut)) CHECK(cut == before);
  }
  CHECK(use == before);
}

// ---- a fake NVRTC
// -------------------------------------------------------------------------------------------

struct Script {
  int create = 0;
  int compile = 0;
  int image = 0;
  std::string log;
  std::string bytes;
  int destroyed = 0;
  std::string options;
};
Script script;  // function pointers carry no state

Nvrtc fake() {
  script = {};
  Nvrtc nvrtc;
  nvrtc.id = {13, 0, "aa", "bb"};
  nvrtc.error_string = [](int) { return "NVRTC_ERROR_SCRIPTED"; };
  nvrtc.num_supported_archs = [](int* count) { return *count = 1, 0; };
  nvrtc.supported_archs = [](int* archs) { return archs[0] = 90, 0; };
  nvrtc.create_program = [](Nvrtc::Program* program,
                            const char*,
                            const char*,
                            int,
                            const char* const*,
                            const char* const*) {
    *program = script.create == 0 ? reinterpret_cast<Nvrtc::Program>(&script) : nullptr;
    return script.create;
  };
  nvrtc.destroy_program = [](Nvrtc::Program*) { return ++script.destroyed, 0; };
  nvrtc.compile_program = [](Nvrtc::Program, int count, const char* const* options) {
    for (int i = 0; i < count; ++i) script.options += std::string(options[i]) + " ";
    return script.compile;
  };
  nvrtc.log_size = [](Nvrtc::Program, std::size_t* size) {
    return *size = script.log.size() + 1, 0;
  };
  nvrtc.log = [](Nvrtc::Program, char* out) {
    std::memcpy(out, script.log.c_str(), script.log.size() + 1);
    return 0;
  };
  nvrtc.cubin_size = [](Nvrtc::Program, std::size_t* size) {
    return *size = script.bytes.size(), script.image;
  };
  nvrtc.cubin = [](Nvrtc::Program, char* out) {
    std::memcpy(out, script.bytes.data(), script.bytes.size());
    return 0;
  };
  nvrtc.ptx_size = nvrtc.cubin_size;
  nvrtc.ptx = nvrtc.cubin;
  return nvrtc;
}

std::string failure(const Nvrtc& nvrtc, const std::string& entry, bool ptx = false) {
  const Closure closure = testing::closure_of("// source\n", entry);
  const CompileOptions options{{"--one", "--two"}};
  try {
    (void)compile(
        nvrtc,
        {.closure = closure, .options = options, .arch = {9, 0, 'a'}, .seed = "77", .ptx = ptx});
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::compile_failed);
    return error.detail;
  }
  return "";
}

TEST_CASE("exactly the request's options, the architecture and the seed reach NVRTC", "[nvrtc]") {
  const Nvrtc nvrtc = fake();
  script.bytes = ".visible .entry k(\n";
  CHECK(failure(nvrtc, "k", true).empty());
  CHECK(script.options == "--one --two --gpu-architecture=compute_90 --frandom-seed=77 ");
  CHECK(script.destroyed == 1);
}

TEST_CASE("a failed call of NVRTC is an error with its name, and the program is freed", "[nvrtc]") {
  const Nvrtc nvrtc = fake();
  script.create = 2;
  CHECK_THAT(failure(nvrtc, "k"), contains("creating the program: NVRTC_ERROR_SCRIPTED (2)"));
  CHECK(script.destroyed == 0);
  script.create = 0;
  script.compile = 6;
  script.log = "kiln.cu(1): error: no";
  CHECK_THAT(failure(nvrtc, "k"), contains("kiln.cu(1): error: no"));
  CHECK(script.destroyed == 1);
  script.compile = 0;
  script.image = 7;
  CHECK_THAT(failure(nvrtc, "k"), contains("reading the code"));
  script.image = 0;
  CHECK_THAT(failure(nvrtc, "k"), contains("gave no code"));
}

TEST_CASE("serialised wgmma and injected waits are compile errors", "[nvrtc]") {
  const Nvrtc nvrtc = fake();
  for (const char* code : {"C7511", "C7517"}) {
    script.log = std::string("ptxas info    : (") + code +
                 ") Potential Performance Loss: wgmma.mma_async instructions are serialized";
    CHECK_THAT(failure(nvrtc, ""),
               contains(std::string("serialised asynchronous instructions (") + code));
  }
}

TEST_CASE("PTX of which another entry has the name as its start lacks the entry", "[nvrtc]") {
  const Nvrtc nvrtc = fake();
  script.bytes = ".visible .entry kernel2(\n.visible .entry kernel_s1(\n";
  CHECK_THAT(failure(nvrtc, "kernel", true), contains("no such kernel"));
  CHECK(failure(nvrtc, "kernel_s1", true).empty());
}

TEST_CASE("an endless log is cut in the error", "[nvrtc]") {
  const Nvrtc nvrtc = fake();
  script.compile = 6;
  script.log = std::string(1 << 20, 'e');
  CHECK(failure(nvrtc, "k").size() < 100'000);
}

}  // namespace
}  // namespace kiln
