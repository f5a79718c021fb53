// One hermetic compile: everything NVRTC sees is in the request, and everything it says is in the
// error.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kiln/error.hpp>

#include "src/cuda/elf.hpp"
#include "src/cuda/nvrtc.hpp"

namespace kiln {
namespace {

constexpr std::size_t kSourceLinesShown = 40;
constexpr std::size_t kMostLogBytes = 64 * 1024;

class Program {
 public:
  Program(const Nvrtc& nvrtc, const Closure& closure) : nvrtc_(nvrtc) {
    // Copies: NVRTC wants zero-terminated strings, and views into embedded files are not.
    std::vector<std::string> texts;
    std::vector<std::string> names;
    for (const EmbeddedFile& header : closure.headers) {
      texts.emplace_back(header.text);
      names.emplace_back(header.name);
    }
    const auto pointers = [](const std::vector<std::string>& strings) {
      std::vector<const char*> out;
      for (const std::string& string : strings) out.push_back(string.c_str());
      return out;
    };
    const std::string name(kProgramName);
    status_ = nvrtc.create_program(&program_,
                                   closure.source.text.c_str(),
                                   name.c_str(),
                                   static_cast<int>(names.size()),
                                   pointers(texts).data(),
                                   pointers(names).data());
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program(Program&&) = delete;
  Program& operator=(Program&&) = delete;
  ~Program() {
    if (program_ != nullptr) nvrtc_.destroy_program(&program_);
  }

  [[nodiscard]] int status() const noexcept { return status_; }

  [[nodiscard]] int compile(const std::vector<std::string>& options) const {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return nvrtc_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
  }

  // The bytes of a pair of NVRTC functions, size and contents; sets `status` when either fails.
  [[nodiscard]] std::string read(int (*size_of)(Nvrtc::Program, std::size_t*),
                                 int (*contents)(Nvrtc::Program, char*),
                                 int& status) const {
    std::size_t size = 0;
    status = size_of(program_, &size);
    if (status != 0) return "";
    std::string bytes(size, '\0');
    if (size > 0) status = contents(program_, bytes.data());
    return bytes;
  }

 private:
  const Nvrtc& nvrtc_;
  Nvrtc::Program program_ = nullptr;
  int status_ = 0;
};

std::string first_lines(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < kSourceLinesShown && end < text.size(); ++line) {
    const std::size_t next = text.find('\n', end);
    end = next == std::string_view::npos ? text.size() : next + 1;
  }
  std::string shown(text.substr(0, end));
  if (end < text.size()) shown += "...\n";
  return shown;
}

std::string described(const CompileRequest& request) {
  const std::string& entry = request.closure.source.entry;
  return fmt::format("{} for {}", entry.empty() ? "the source" : entry, target_of(request));
}

// nvrtcResult
constexpr int kOutOfMemory = 1;
constexpr int kCompilation = 6;

class Failure {
 public:
  Failure(const Nvrtc& nvrtc, const CompileRequest& request, std::vector<std::string> options)
      : nvrtc_(nvrtc), request_(request), options_(std::move(options)) {}

  [[noreturn]] void raise(std::string_view what, std::string_view log) const {
    throw SourceRefused(text(what, log));
  }

  // A call of NVRTC that returned other than success.
  void check(int status, std::string_view doing, std::string_view log = "") const {
    if (status == 0) return;
    const char* name = nvrtc_.error_string != nullptr ? nvrtc_.error_string(status) : "error";
    const std::string what = fmt::format("{}: {} ({})", doing, name, status);
    if (status == kCompilation) raise(what, log);
    const bool memory = status == kOutOfMemory;
    throw Error(memory ? ErrorCode::out_of_memory : ErrorCode::compile_failed, text(what, log));
  }

 private:
  [[nodiscard]] std::string text(std::string_view what, std::string_view log) const {
    return fmt::format(
        "cannot compile {}: {}\nlog:\n{}{}\noptions: {}\ncompiler: {}\n"
        "source (`kiln emit` prints all of it):\n{}",
        described(request_),
        what,
        log.substr(0, kMostLogBytes),
        log.size() > kMostLogBytes ? "\n(cut here)" : "",
        fmt::join(options_, " "),
        nvrtc_.id.text(),
        first_lines(request_.closure.source.text));
  }

  const Nvrtc& nvrtc_;
  const CompileRequest& request_;
  std::vector<std::string> options_;
};

// Asked before compiling, because NVRTC's own error for an unknown architecture names only the
// option.
void check_architecture(const Nvrtc& nvrtc, const CompileRequest& request, const Failure& failure) {
  int count = 0;
  failure.check(nvrtc.num_supported_archs(&count), "asking for the supported architectures");
  std::vector<int> known(static_cast<std::size_t>(std::max(count, 0)));
  failure.check(nvrtc.supported_archs(known.data()), "asking for the supported architectures");
  const int wanted = request.arch.major * 10 + request.arch.minor;
  if (std::find(known.begin(), known.end(), wanted) != known.end()) return;
  failure.raise(fmt::format("this NVRTC compiles for sm_{} only; a newer one may know {}",
                            fmt::join(known, ", sm_"),
                            target_of(request)),
                "");
}

// ptxas only remarks on these; each costs a kernel most of its speed, so they count as errors.
void check_remarks(std::string_view log, const Failure& failure) {
  for (const std::string_view code : {"C7511", "C7517"}) {
    if (log.find(code) != std::string_view::npos) {
      failure.raise(fmt::format("ptxas serialised asynchronous instructions ({})", code), log);
    }
  }
}

bool ptx_defines(std::string_view ptx, const std::string& entry) {
  const std::string start = ".entry " + entry;
  for (std::size_t at = ptx.find(start); at != std::string_view::npos;
       at = ptx.find(start, at + 1)) {
    const std::size_t end = at + start.size();
    if (end < ptx.size() && (ptx[end] == '(' || ptx[end] == ' ' || ptx[end] == '\n')) return true;
  }
  return false;
}

// The image must define the entry; a cubin's log must tell what the entry uses ("no spills" is a
// promise).
void check_entry(const CompileRequest& request,
                 std::string_view image,
                 std::string_view log,
                 Cubin& cubin,
                 const Failure& failure) {
  const std::string& entry = request.closure.source.entry;
  if (entry.empty()) return;
  cubin.entry = entry;
  if (request.ptx) {
    if (!ptx_defines(image, entry)) failure.raise("the source defines no such kernel", log);
    return;
  }
  const std::vector<std::string> functions = elf_functions(image);
  if (std::find(functions.begin(), functions.end(), entry) == functions.end()) {
    failure.raise(
        fmt::format("the source defines no such extern \"C\" kernel, only: {}",
                    functions.empty() ? "none" : fmt::format("{}", fmt::join(functions, ", "))),
        log);
  }
  if (!read_resource_use(log, entry, cubin)) {
    failure.raise("the log does not say what the kernel uses (--ptxas-options=-v is needed)", log);
  }
}

}  // namespace

std::string target_of(const CompileRequest& request) {
  return request.ptx ? fmt::format("compute_{}{}", request.arch.major, request.arch.minor)
                     : request.arch.text();
}

CompileResult compile(const Nvrtc& nvrtc, const CompileRequest& request) {
  std::vector<std::string> options = request.options.flags;
  options.push_back("--gpu-architecture=" + target_of(request));
  options.push_back("--frandom-seed=" + request.seed);
  const Failure failure(nvrtc, request, options);
  check_architecture(nvrtc, request, failure);

  const auto start = std::chrono::steady_clock::now();
  const Program program(nvrtc, request.closure);
  failure.check(program.status(), "creating the program");
  const int compiled = program.compile(options);
  const auto end = std::chrono::steady_clock::now();

  CompileResult result;
  result.ms = std::chrono::duration<double, std::milli>(end - start).count();
  int status = 0;
  result.log = program.read(nvrtc.log_size, nvrtc.log, status);
  while (!result.log.empty() && result.log.back() == '\0') result.log.pop_back();
  failure.check(compiled, "NVRTC refused it", result.log);
  failure.check(status, "reading the log");
  check_remarks(result.log, failure);

  const std::string image = request.ptx ? program.read(nvrtc.ptx_size, nvrtc.ptx, status)
                                        : program.read(nvrtc.cubin_size, nvrtc.cubin, status);
  failure.check(status, "reading the code", result.log);
  if (image.empty()) failure.raise("NVRTC succeeded and gave no code", result.log);
  check_entry(request, image, result.log, result.cubin, failure);
  const auto bytes = std::as_bytes(std::span(image));
  result.cubin.image.assign(bytes.begin(), bytes.end());
  return result;
}

}  // namespace kiln
