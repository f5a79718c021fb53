// Workers are forked before NVRTC is loaded; what they make comes back as files.
// SPDX-License-Identifier: Apache-2.0
#include "tools/composed_compile.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/core/digest.hpp"
#include "src/cuda/elf.hpp"
#include "src/cuda/nvrtc.hpp"
#include "tools/whole_files.hpp"

namespace fs = std::filesystem;

namespace kiln::composed {
namespace {

// Raised when the same inputs give another output: the digest of the images stands for the whole
// generated file.
constexpr int kOutputFormat = 1;

struct Target {
  Arch arch;
  bool ptx = false;
};

// Plain architectures: composed kernels need nothing of the 'a' variants. PTX last, for anything
// newer.
constexpr std::array kTargets{
    Target{{8, 0, '\0'}},
    Target{{8, 6, '\0'}},
    Target{{8, 9, '\0'}},
    Target{{9, 0, '\0'}},
    Target{{10, 0, '\0'}},
    Target{{10, 3, '\0'}},
    Target{{12, 0, '\0'}},
    Target{{8, 0, '\0'}, true},
};

std::string log_of(const fs::path& folder, std::size_t index) {
  return (folder / fmt::format("{}.log", index)).string();
}
std::string image_of(const fs::path& folder, std::size_t index) {
  return (folder / fmt::format("{}.image", index)).string();
}

std::string key_digest(const Closure& closure, const CompileOptions& options, const Arch& arch) {
  return digest(make_key("composed", 1, closure, options, arch)).kernel_hex();
}

void compile_target(const Nvrtc& nvrtc,
                    const Closure& closure,
                    std::size_t index,
                    const fs::path& folder) {
  const Target& target = kTargets[index];
  const CompileOptions options = CompileOptions::standard();
  const CompileResult result = compile(nvrtc,
                                       {.closure = closure,
                                        .options = options,
                                        .arch = target.arch,
                                        .seed = key_digest(closure, options, target.arch),
                                        .ptx = target.ptx});
  const auto& image = result.cubin.image;
  write_file(image_of(folder, index), {reinterpret_cast<const char*>(image.data()), image.size()});
  write_file(log_of(folder, index), result.log);
}

// The child of a fork: every jobs-th target, its own NVRTC. _exit: nothing of the parent's is
// flushed or destroyed.
[[noreturn]] void work(const ToolchainFiles& files,
                       const Closure& closure,
                       std::size_t first,
                       std::size_t jobs,
                       const fs::path& folder) {
  int status = 0;
  try {
    const Nvrtc nvrtc = Nvrtc::load(files);
    for (std::size_t index = first; index < kTargets.size(); index += jobs) {
      compile_target(nvrtc, closure, index, folder);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "kiln_embed_composed: {}\n", error.what());
    std::fflush(stderr);
    status = 1;
  }
  ::_exit(status);
}

// Processes, because NVRTC's front end is serialised within one; forked before NVRTC is loaded,
// because its locks hang a child forked later.
void compile_all(const ToolchainFiles& files,
                 const Closure& closure,
                 std::size_t jobs,
                 const fs::path& folder) {
  jobs = std::min(jobs, kTargets.size());
  std::vector<pid_t> children;
  bool failed = false;
  for (std::size_t first = 0; first < jobs; ++first) {
    const pid_t child = ::fork();
    if (child == 0) work(files, closure, first, jobs, folder);
    if (child < 0) {
      fmt::print(stderr, "kiln_embed_composed: cannot start a process: {}\n", std::strerror(errno));
      failed = true;
      break;
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
      fmt::print(
          stderr, "kiln_embed_composed: a compile was ended by signal {}\n", WTERMSIG(status));
    }
    if (status != 0) failed = true;
  }
  if (failed) throw Error(ErrorCode::compile_failed, "not every architecture compiled; see above");
}

// Names from the first cubin serve the PTX, which comes last and does not say what an entry uses.
std::vector<Cubin> entries_of(const Target& target,
                              const std::string& bytes,
                              const std::string& log,
                              const std::vector<Image>& before) {
  std::vector<Cubin> entries;
  if (target.ptx) {
    for (const Cubin& known : before.front().entries) {
      entries.push_back({.image = {},
                         .entry = known.entry,
                         .registers = -1,
                         .spill_bytes = -1,
                         .stack_bytes = -1,
                         .static_smem_bytes = -1});
    }
    return entries;
  }
  std::vector<std::string> names = elf_functions(bytes);
  std::sort(names.begin(), names.end());
  if (names.empty())
    throw Error(ErrorCode::compile_failed, "composed.cu defines no extern \"C\" kernel");
  for (const std::string& name : names) {
    Cubin entry{.image = {}, .entry = name};
    if (!read_resource_use(log, name, entry)) {
      throw Error(ErrorCode::internal,
                  fmt::format("the log does not say what {} uses:\n{}", name, log));
    }
    if (entry.spill_bytes > 0) {
      fmt::print(stderr,
                 "kiln_embed_composed: warning: {} for {} spills {} bytes of registers\n",
                 name,
                 target.arch.text(),
                 entry.spill_bytes);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

std::string images_digest(const ToolchainFiles& files, const Closure& closure) {
  const CompileOptions options = CompileOptions::standard();
  std::string all = fmt::format("{} {}", kOutputFormat, files.id.text());
  for (const Target& target : kTargets) {
    all += fmt::format(
        "\n{} {}", key_digest(closure, options, target.arch), target.ptx ? "ptx" : "cubin");
  }
  return hex(sha256(std::string_view(all)));
}

std::vector<Image> compile_images(const ToolchainFiles& files,
                                  const Closure& closure,
                                  std::size_t jobs,
                                  const std::string& folder) {
  compile_all(files, closure, jobs, folder);
  std::vector<Image> images;
  for (std::size_t index = 0; index < kTargets.size(); ++index) {
    const Target& target = kTargets[index];
    std::string bytes = read_file(image_of(folder, index));
    std::vector<Cubin> entries =
        entries_of(target, bytes, read_file(log_of(folder, index)), images);
    if (target.ptx && bytes.back() != '\0') bytes += '\0';
    images.push_back({target.arch, target.ptx, std::move(bytes), std::move(entries)});
  }
  return images;
}

}  // namespace kiln::composed
