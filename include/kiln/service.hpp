// The service: a signature in, a running kernel out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/arch.hpp>
#include <kiln/arguments.hpp>
#include <kiln/plan.hpp>
#include <kiln/policy.hpp>
#include <kiln/signature.hpp>

struct CUstream_st;

namespace [[gnu::visibility("default")]] kiln {

struct Backends;
struct PreparedState;

using Log = std::function<void(LogLevel, std::string_view)>;

// One outcome as it happens: a stable name ("hit", "compile", "quarantined": the names of `kiln
// stats
// --json`), the kernel's digest in hex (empty when it is of no kernel), and a detail such as the
// place or the reason. Called from any thread that uses the service; what it throws is swallowed.
using Telemetry =
    std::function<void(std::string_view event, std::string_view digest, std::string_view detail)>;

enum class RouteChoice {
  automatic,
  composed
};  // composed: never the fused kernel, with reason `forced`

struct Options {
  Policy policy;
  Log log;  // default: warnings (policy.log_level) to stderr, through spdlog
  std::vector<std::string> nvrtc_folders;  // searched after KILN_NVRTC: NVIDIA's wheel
  RouteChoice route = RouteChoice::automatic;
  std::int64_t lock_wait_ms = 120'000;  // most a process waits for another's compile of one digest
  Telemetry telemetry = {};
};

// A device as the service sees it: its primary context is retained once, and its limits are read
// off it.
struct Device {
  int ordinal = 0;
  Arch arch;
  int sm_count = 0;
  std::string name;
};

struct Statistics {
  std::uint64_t memory_hits = 0;  // prepare answered from memory
  std::uint64_t cache_hits = 0;
  std::uint64_t layer_hits = 0;
  std::uint64_t compiles = 0;
  std::uint64_t fallbacks = 0;
  bool nvrtc_loaded = false;
};

// Scratch memory of one launch; needs no initialising. Freed with the last handle.
struct Workspace {
  void* data = nullptr;  // 256-byte aligned device memory
  std::int64_t bytes = 0;
  std::shared_ptr<void> owner;  // empty when adopted from the caller
};

struct BindOptions {
  std::optional<Workspace> workspace;  // absent: bind allocates one
  int sm_limit = 0;  // use at most this many SMs; 0: all. Changes no bit of the result.
  // 256 bytes, aligned like a workspace, zeroed before the first run and from then on used by no
  // other launch; absent: bind allocates them. For launches that a CUDA graph captures, where
  // allocating is forbidden.
  std::optional<Workspace> counters = {};
};

// Arguments packed once. Runs of one Launch are stream-ordered (they share workspace and counters):
// clone() for concurrency. It must outlive the runs it started and the graphs that captured it.
// Calling anything but kernel_count() on an empty one throws Error{invalid_argument}.
class Launch {
 public:
  Launch();
  ~Launch();
  Launch(Launch&&) noexcept;
  Launch& operator=(Launch&&) noexcept;

  // Launches on a stream of the device's primary context (null: the legacy default stream).
  // Allocates nothing, waits for nothing, and can be captured in a CUDA graph. Throws
  // Error{driver_error} when the driver refuses.
  void run(CUstream_st* stream) const;
  // New pointers, rows and strides for the same plan; allocates nothing. Throws
  // Error{invalid_argument}, leaving the launch as it was.
  void rebind(const Arguments& arguments);
  // Own counters and own workspace.
  [[nodiscard]] Launch clone() const;
  // Kernel launches a run makes.
  [[nodiscard]] int kernel_count() const noexcept;

 private:
  friend class Prepared;
  struct State;
  std::unique_ptr<State> state_;
};

// A cheap shared handle on a prepared signature.
class Prepared {
 public:
  // Empty: only good for being assigned to.
  Prepared() = default;

  [[nodiscard]] const Plan& plan() const noexcept;
  // Ordinal -1 when it was prepared for an Arch.
  [[nodiscard]] const Device& device() const noexcept;
  // Checks the arguments (Error{invalid_argument}) and packs them. Not for a Prepared made for an
  // Arch.
  [[nodiscard]] Launch bind(const Arguments& arguments, const BindOptions& options = {}) const;
  [[nodiscard]] Workspace make_workspace() const;

 private:
  friend class Service;
  friend class Launch;
  explicit Prepared(std::shared_ptr<const PreparedState> state) noexcept;

  std::shared_ptr<const PreparedState> state_;
};

// Thread-safe. One object owns all state; nothing is created or opened before the first call that
// needs it.
class Service {
 public:
  explicit Service(Options options);
  // On other backends than the real driver, compiler and store: for tests.
  Service(Options options, Backends backends);
  ~Service();
  Service(Service&&) noexcept;
  Service& operator=(Service&&) noexcept;

  // Plans, compiles if it must, loads. Threads asking for one signature compile it once; a
  // different signature never waits for it. When the fused kernel cannot be had, the composed one,
  // with the reason in plan().fallback; under Policy::strict an environment that forces that throws
  // Error{forced_fallback}.
  [[nodiscard]] Prepared prepare(const Signature& signature, const Device& device);
  // Plans, compiles and caches for an architecture; needs no GPU and loads nothing.
  [[nodiscard]] Prepared prepare(const Signature& signature, const Arch& arch);

  // The plan alone: no compiler, no cache, no device.
  [[nodiscard]] Plan plan(const Signature& signature, const Arch& arch) const;
  // Names for Policy::candidate: the kernels a signature could have on an architecture. Empty where
  // there is no choice.
  [[nodiscard]] std::vector<std::string> candidates(const Signature& signature,
                                                    const Arch& arch) const;
  // The source that would be compiled for a stage of the plan.
  [[nodiscard]] std::string source(const Signature& signature,
                                   const Arch& arch,
                                   std::size_t stage = 0) const;

  // Throws Error{driver_missing} or Error{device_missing}.
  [[nodiscard]] Device device(int ordinal);
  [[nodiscard]] int device_count();
  // The device of the calling thread's current context; ordinal 0 when there is none.
  [[nodiscard]] Device current_device();

  [[nodiscard]] Statistics statistics() const;
  [[nodiscard]] const Options& options() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// kiln's version, "0.1.0".
[[nodiscard]] std::string_view version() noexcept;

}  // namespace kiln
