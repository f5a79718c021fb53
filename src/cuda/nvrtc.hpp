// NVRTC as a table of functions, and hermetic compiles through it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/error.hpp>

#include "src/core/closure.hpp"
#include "src/core/cubin.hpp"
#include "src/core/digest.hpp"
#include "src/cuda/dynamic_library.hpp"
#include "src/cuda/toolchain.hpp"

namespace kiln {

// Filled by load() in production, by hand in tests. Signatures are those of nvrtc.h 13.0.
struct Nvrtc {
  using Program = struct NvrtcProgramHandle*;
  int (*version)(int*, int*) = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*num_supported_archs)(int*) = nullptr;
  int (*supported_archs)(int*) = nullptr;
  int (*create_program)(
      Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_program)(Program*) = nullptr;
  int (*compile_program)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, std::size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;

  Toolchain id;
  // Set when what was mapped is not what was fingerprinted: compiles must not be cached.
  std::string uncacheable_reason;
  DynamicLibrary builtins, library;

  // Loads builtins first, then libnvrtc, by absolute path. Throws Error{nvrtc_missing}.
  [[nodiscard]] static Nvrtc load(const ToolchainFiles& files);
};

// An empty closure.source.entry accepts any number of entries (composed.cu): the result's resource
// use stays zero, and read_resource_use() gives each entry's.
struct CompileRequest {
  const Closure& closure;
  const CompileOptions& options;
  Arch arch;
  std::string seed;  // hex; --frandom-seed
  bool ptx = false;  // PTX for the virtual architecture instead of a cubin
};

// The compiler refused the source itself: it would refuse it again. Running out of memory, or an
// error inside the compiler, is a plain Error.
class SourceRefused : public Error {
 public:
  explicit SourceRefused(std::string error_detail)
      : Error(ErrorCode::compile_failed, std::move(error_detail)) {}
};

struct CompileResult {
  Cubin cubin;  // image holds PTX text when asked for
  std::string log;
  double ms = 0;
};

// Passed to NVRTC: the source under the constant name kiln.cu, the closure's headers in memory,
// options.flags (which must hold --ptxas-options=-v), the architecture and the seed; nothing else,
// so all of it is in the key. Safe from several threads and without a lock of ours: NVRTC
// serialises its front end itself, and bytes do not change (tested). Do not fork while a compile
// runs: NVRTC's locks hang the child. Throws SourceRefused with the log, the options, the
// versions, the architecture and the source's first lines. Any "C7511"/"C7517" line (serialised
// wgmma, injected waits) is a refusal too. Other errors of NVRTC: Error{out_of_memory},
// {compile_failed}.
[[nodiscard]] CompileResult compile(const Nvrtc& nvrtc, const CompileRequest& request);

// What NVRTC names the request's target: "sm_90a", or "compute_80" for PTX.
[[nodiscard]] std::string target_of(const CompileRequest& request);

// Registers, spills (its own and those of the functions it calls), stack and static shared memory
// of one entry, out of the -v log. False, with `cubin` untouched, when the log does not tell.
[[nodiscard]] bool read_resource_use(std::string_view log, std::string_view entry, Cubin& cubin);

}  // namespace kiln
