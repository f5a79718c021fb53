// The other side of tools/worker: one worker a service, one compile at a time.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/compile_worker.hpp"

#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/cuda/compile_wire.hpp"
#include "src/process/child.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A compile takes seconds; one that takes minutes hangs.
constexpr std::chrono::seconds kTimeLimit{300};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kMemoryBytes = 0;  // shadow memory is counted too
#else
constexpr std::int64_t kMemoryBytes = std::int64_t{16} << 30U;
#endif

// The folder of the file that holds this code: libkiln.so, the Python module, or a program.
fs::path own_folder() {
  Dl_info info{};
  std::error_code error;
  if (::dladdr(reinterpret_cast<const void*>(&find_compile_worker), &info) == 0 ||
      info.dli_fname == nullptr) {
    return {};
  }
  fs::path file = fs::canonical(info.dli_fname, error);
  // In a program dli_fname is argv[0], which need not be a path.
  if (error || file.filename().string().find(".so") == std::string::npos) {
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) file = program;
  }
  return file.parent_path();
}

class CompileWorker {
 public:
  explicit CompileWorker(std::string program) : program_(std::move(program)) {}

  std::shared_ptr<const Nvrtc> load(const ToolchainFiles& files) {
    const std::lock_guard lock(mutex_);
    const CompileAnswer answer = ask(load_message(files));
    auto nvrtc = std::make_shared<Nvrtc>();
    nvrtc->id = answer.id;
    nvrtc->uncacheable_reason = answer.uncacheable_reason;
    files_[nvrtc.get()] = files;
    return nvrtc;
  }

  CompileResult compile(const Nvrtc& nvrtc, const CompileRequest& request) {
    const std::lock_guard lock(mutex_);
    return ask(compile_message(files_.at(&nvrtc), request)).result;
  }

 private:
  CompileAnswer ask(const std::string& message) {
    if (!child_) {
      std::string why;
      child_ = process::Child::start({program_, {}, kMemoryBytes}, why);
      if (!child_) throw Error(ErrorCode::nvrtc_missing, fmt::format("no worker process: {}", why));
    }
    const auto deadline = Clock::now() + kTimeLimit;
    if (child_->send(message)) {
      while (Clock::now() < deadline) {
        if (std::optional<std::string> answer = child_->next()) return answer_from(*answer);
        if (readable(deadline) && !child_->receive()) lose("it");
      }
      child_->kill();
      lose(fmt::format("it took longer than {} s and", kTimeLimit.count()));
    }
    lose("it");
  }

  [[nodiscard]] bool readable(Clock::time_point deadline) const {
    pollfd polled{child_->socket(), POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return ::poll(&polled, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) > 0;
  }

  [[noreturn]] void lose(const std::string& who) {
    child_->kill();
    const std::string how = child_->how_it_ended();
    const std::string log = child_->take_log();
    child_.reset();
    throw Error(ErrorCode::nvrtc_missing,
                fmt::format("the worker process {} was lost: {} ended: {}{}{}",
                            program_,
                            who,
                            how,
                            log.empty() ? "" : "; it wrote: ",
                            log));
  }

  const std::string program_;
  std::mutex mutex_;
  std::optional<process::Child> child_;
  std::map<const Nvrtc*, ToolchainFiles> files_;
};

}  // namespace

std::optional<std::string> find_compile_worker() {
  const fs::path folder = own_folder();
  if (folder.empty()) return std::nullopt;
  for (const char* place : {"kiln-worker",
                            "../libexec/kiln/kiln-worker",
                            "../../libexec/kiln/kiln-worker",
                            "libexec/kiln-worker",
                            "../../bin/kiln-worker"}) {
    std::error_code error;
    const fs::path program = fs::canonical(folder / place, error);
    if (!error && ::access(program.c_str(), X_OK) == 0) return program.string();
  }
  return std::nullopt;
}

Backends compiling_in_worker(Backends backends, const std::string& program) {
  const auto worker = std::make_shared<CompileWorker>(program);
  backends.load_nvrtc = [worker](const ToolchainFiles& files) { return worker->load(files); };
  backends.compile = [worker](const Nvrtc& nvrtc, const CompileRequest& request) {
    return worker->compile(nvrtc, request);
  };
  return backends;
}

Backends after_fork(const Backends& given, bool nvrtc_was_loaded) {
  if (const std::optional<std::string> program = find_compile_worker()) {
    return compiling_in_worker(given, *program);
  }
  Backends backends = given;
  if (nvrtc_was_loaded) {
    backends.load_nvrtc = [](const ToolchainFiles&) -> std::shared_ptr<const Nvrtc> {
      throw Error(ErrorCode::nvrtc_missing,
                  "this process was forked from one that compiled, where NVRTC may hang, and there "
                  "is no program kiln-worker beside kiln's library or in its libexec/kiln; install "
                  "it, or start processes by spawn");
    };
  }
  return backends;
}

}  // namespace kiln
