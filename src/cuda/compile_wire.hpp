// Compiles as messages, for a process that compiles in another: labelled fields, nothing shared.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kiln/error.hpp>

#include "src/cuda/nvrtc.hpp"
#include "src/cuda/toolchain.hpp"

namespace kiln {

// A request that owns what it refers to.
struct OwnedRequest {
  ToolchainFiles files;
  std::vector<std::string> texts;  // what the closure's headers refer to
  Closure closure;
  CompileOptions options;
  Arch arch;
  std::string seed;
  bool load_only = false;  // only load NVRTC and say what it is

  OwnedRequest() = default;
  OwnedRequest(OwnedRequest&&) = default;
  OwnedRequest& operator=(OwnedRequest&&) = default;

  [[nodiscard]] CompileRequest request() const { return {closure, options, arch, seed}; }
};

struct CompileAnswer {
  CompileResult result;
  Toolchain id;
  std::string uncacheable_reason;
};

[[nodiscard]] std::string load_message(const ToolchainFiles& files);
[[nodiscard]] std::string compile_message(const ToolchainFiles& files,
                                          const CompileRequest& request);
// Throws Error{internal} for anything that the two above did not make.
[[nodiscard]] OwnedRequest request_from(std::string_view message);

[[nodiscard]] std::string answer_message(const CompileAnswer& answer);
[[nodiscard]] std::string error_message(const Error& error);
// Throws what the other process threw, when it did (compile_failed, nvrtc_missing, or internal),
// and Error{internal} for anything that is no answer.
[[nodiscard]] CompileAnswer answer_from(std::string_view message);

}  // namespace kiln
