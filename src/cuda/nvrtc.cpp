// Loading NVRTC: builtins first, by absolute path, then a check that these files are what was
// mapped.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/nvrtc.hpp"

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/cuda/elf.hpp"
#include "src/cuda/mapped_files.hpp"

namespace kiln {
namespace {

DynamicLibrary open_whole(const std::string& path) {
  // Asked again: the file may have changed since it was identified, and dlopen dies of SIGBUS on a
  // truncated one.
  std::string reason = shared_library_problem(path);
  if (reason.empty()) {
    try {
      return DynamicLibrary(path);
    } catch (const Error& error) {
      reason = error.detail;
    }
  }
  throw Error(ErrorCode::nvrtc_missing,
              fmt::format("NVRTC cannot be loaded: {}: {}. Reinstall the CUDA toolkit or NVIDIA's "
                          "wheel it belongs to, or set KILN_NVRTC to another one",
                          path,
                          reason));
}

template <class Function>
void resolve(const DynamicLibrary& library,
             const char* name,
             const std::string& path,
             Function& function) {
  void* address = library.symbol(name);
  if (address == nullptr) {
    throw Error(ErrorCode::nvrtc_missing,
                fmt::format("{} has no function {}: it is not an NVRTC of version 12.9 or newer; "
                            "set KILN_NVRTC to one",
                            path,
                            name));
  }
  function = reinterpret_cast<Function>(address);
}

}  // namespace

Nvrtc Nvrtc::load(const ToolchainFiles& files) {
  Nvrtc nvrtc;
  nvrtc.id = files.id;
  // libnvrtc has no RUNPATH and opens its builtins by bare name: loaded before it, ours answer to
  // that name.
  nvrtc.builtins = open_whole(files.builtins_path);
  nvrtc.library = open_whole(files.nvrtc_path);
  const auto get = [&](const char* name, auto& function) {
    resolve(nvrtc.library, name, files.nvrtc_path, function);
  };
  get("nvrtcVersion", nvrtc.version);
  get("nvrtcGetErrorString", nvrtc.error_string);
  get("nvrtcGetNumSupportedArchs", nvrtc.num_supported_archs);
  get("nvrtcGetSupportedArchs", nvrtc.supported_archs);
  get("nvrtcCreateProgram", nvrtc.create_program);
  get("nvrtcDestroyProgram", nvrtc.destroy_program);
  get("nvrtcCompileProgram", nvrtc.compile_program);
  get("nvrtcGetProgramLogSize", nvrtc.log_size);
  get("nvrtcGetProgramLog", nvrtc.log);
  get("nvrtcGetCUBINSize", nvrtc.cubin_size);
  get("nvrtcGetCUBIN", nvrtc.cubin);
  get("nvrtcGetPTXSize", nvrtc.ptx_size);
  get("nvrtcGetPTX", nvrtc.ptx);

  nvrtc.uncacheable_reason =
      mapped_files_problem(files, reinterpret_cast<const void*>(nvrtc.version));
  int major = 0;
  int minor = 0;
  if (nvrtc.version(&major, &minor) != 0 || major != files.id.major || minor != files.id.minor) {
    nvrtc.uncacheable_reason = fmt::format("{} says it is version {}.{}, its files say {}.{}",
                                           files.nvrtc_path,
                                           major,
                                           minor,
                                           files.id.major,
                                           files.id.minor);
  }
  return nvrtc;
}

}  // namespace kiln
