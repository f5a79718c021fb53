// What goes into a key: everything that reaches the compiler, and the compiler itself.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/core/digest.hpp"

namespace kiln {
namespace {

// Raise it when the meaning of a field changes: every older entry becomes a miss.
constexpr std::string_view kSchema = "kiln-key-1";

}  // namespace

CompileOptions CompileOptions::standard() {
  return {{
      "--std=c++20",
      // Fused and composed kernels must round alike, so nothing may be contracted or approximated
      // unasked.
      "--fmad=false",
      "--ftz=false",
      "--prec-div=true",
      "--prec-sqrt=true",
      // Plain constexpr functions serve host and device with no macro.
      "--device-as-default-execution-space",
      // Without the runtime API's declarations, which device code here never includes: the same
      // cubins, 10 ms sooner.
      "--minimal",
      // NVRTC's own result cache returns an empty log, and spill checks read the log.
      "--no-cache",
      // Else "name.h" beside the working folder wins over the header in memory.
      "--no-source-include",
      // Else the stack limit of the whole process changes while it compiles.
      "--modify-stack-limit=false",
      // Registers, stack and spills into the program log. NVRTC records the option in the cubin, so
      // it is in the key.
      "--ptxas-options=-v",
  }};
}

std::string Toolchain::text() const {
  return fmt::format("nvrtc {}.{} {} {}", major, minor, nvrtc_id, builtins_id);
}

Key make_key(std::string_view family,
             int emitter_version,
             const Closure& closure,
             const CompileOptions& options,
             const Arch& arch) {
  Key key;
  constexpr std::size_t kOtherFields = 8;
  key.fields.reserve(kOtherFields + closure.headers.size() + options.flags.size());
  const auto add = [&](std::string_view label, std::string value) {
    key.fields.push_back({std::string(label), std::move(value)});
  };
  add("schema", std::string(kSchema));
  add("family", std::string(family));
  add("emitter", std::to_string(emitter_version));
  add("program", std::string(kProgramName));
  add("entry", closure.source.entry);
  add("source", closure.source.text);
  std::vector<const EmbeddedFile*> headers;
  headers.reserve(closure.headers.size());
  for (const EmbeddedFile& header : closure.headers) headers.push_back(&header);
  std::ranges::sort(headers, {}, &EmbeddedFile::name);
  // The hash is of fixed length, so hash and name cannot run into one another.
  for (const EmbeddedFile* header : headers) {
    const Sha256 hash = header->sha256 ? *header->sha256 : sha256(header->text);
    add("header", hex(hash).append(" ").append(header->name));
  }
  for (const std::string& flag : options.flags) add("option", flag);
  add("arch", arch.text());
  add("output", "cubin");
  return key;
}

Key with_toolchain(Key key, const Toolchain& toolchain) {
  key.toolchain = {
      {"nvrtc", fmt::format("{}.{}", toolchain.major, toolchain.minor)},
      {"nvrtc_id", toolchain.nvrtc_id},
      {"builtins_id", toolchain.builtins_id},
  };
  return key;
}

}  // namespace kiln
