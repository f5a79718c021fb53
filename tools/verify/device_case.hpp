// A case on a device: guarded buffers, a poisoned guarded workspace, one bound launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <kiln/service.hpp>

#include "src/cuda/driver.hpp"
#include "tools/verify/case.hpp"
#include "tools/verify/compare.hpp"
#include "tools/verify/device.hpp"

namespace kiln::verify {

// The outputs' bytes, in the order of Problem::tensors; equal means equal in every bit.
using Bits = std::vector<std::pair<std::string, std::vector<std::byte>>>;

struct Verdict {
  std::vector<TensorCheck> checks;
  std::vector<std::string> damage;  // memory that must not have changed and did
  Bits bits;

  [[nodiscard]] bool passed() const noexcept;
  // One line a failure; empty when it passed.
  [[nodiscard]] std::string failures() const;
};

// Where two results first differ, or nothing.
[[nodiscard]] std::string first_difference(const Bits& left, const Bits& right);

// The device's context must be current in the thread; `driver` and `host` must outlive this.
class DeviceCase {
 public:
  DeviceCase(const Driver& driver, Case& host);

  // The arguments of the launch, for callers that bind by themselves.
  [[nodiscard]] Arguments arguments() const;
  // Binds to buffers with the workspace poisoned and guarded.
  void bind(const Prepared& prepared, int sm_limit = 0);

  // Puts outputs, guards and workspace back to what they were before any launch.
  void reset();
  // Launches and waits.
  void run(const Stream& stream);
  // Downloads and compares with the reference.
  [[nodiscard]] Verdict check();
  // Downloads the outputs alone.
  [[nodiscard]] Bits bits() const;

  [[nodiscard]] const Launch& launch() const noexcept { return launch_; }

 private:
  const Driver& driver_;
  Case& host_;
  std::vector<Block> blocks_;
  std::unique_ptr<Block> workspace_;
  Layout workspace_layout_;
  std::vector<std::byte> workspace_image_;
  Launch launch_;
};

// bind, reset, run, check.
[[nodiscard]] Verdict run_and_check(DeviceCase& device_case,
                                    const Prepared& prepared,
                                    const Stream& stream,
                                    int sm_limit = 0);

}  // namespace kiln::verify
