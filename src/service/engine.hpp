// The state of a service, and the line from a signature to what a Prepared shares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <kiln/fallback.hpp>
#include <kiln/plan.hpp>
#include <kiln/service.hpp>
#include <kiln/signature.hpp>

#include "src/core/closure.hpp"
#include "src/core/digest.hpp"
#include "src/core/tuning.hpp"
#include "src/service/backends.hpp"
#include "src/service/device_state.hpp"
#include "src/service/kernel.hpp"
#include "src/service/log.hpp"
#include "src/service/obtain.hpp"
#include "src/service/prepared_state.hpp"
#include "src/service/single_flight.hpp"
#include "src/service/toolchains.hpp"

namespace kiln {

using PreparedPointer = std::shared_ptr<const PreparedState>;

// A device, or an architecture with no device.
struct Target {
  DeviceLimits limits;
  bool known_arch = true;
  std::shared_ptr<const DeviceState> hardware{};  // null: an architecture
};

class Engine {
 public:
  Engine(Options options, Backends backends);

  [[nodiscard]] PreparedPointer prepare(const Signature& signature, const Device& device);
  [[nodiscard]] PreparedPointer prepare(const Signature& signature, const Arch& arch);
  [[nodiscard]] Plan plan(const Signature& signature, const Target& target) const;
  [[nodiscard]] std::vector<std::string> candidates(const Signature& signature,
                                                    const Arch& arch) const;
  [[nodiscard]] std::string source(const Signature& signature,
                                   const Arch& arch,
                                   std::size_t stage) const;
  [[nodiscard]] Statistics statistics() const;
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] Devices& devices() noexcept { return devices_; }

 private:
  // A signature on a device (its ordinal) or an architecture (a negative number).
  struct Request {
    const Signature& signature;
    int target;
  };
  struct Name {
    Signature signature;
    int target;
  };
  struct NameHash {
    using is_transparent = void;
    template <class Either>
    std::size_t operator()(const Either& name) const noexcept {
      return SignatureHash{}(name.signature) ^
             (static_cast<std::size_t>(name.target) * 0x9E3779B97F4A7C15U);
    }
  };
  struct NameEqual {
    using is_transparent = void;
    template <class Left, class Right>
    bool operator()(const Left& left, const Right& right) const noexcept {
      return left.target == right.target && left.signature == right.signature;
    }
  };
  struct DigestHash {
    std::size_t operator()(const Digest& digest) const noexcept {
      std::size_t hash = 0;
      std::memcpy(&hash, digest.kernel.data(), sizeof hash);
      return hash;
    }
  };

  template <class MakeTarget>
  [[nodiscard]] PreparedPointer prepare_once(const Request& request, MakeTarget&& make_target);
  [[nodiscard]] PreparedPointer build(const Signature& signature, const Target& target);
  [[nodiscard]] PreparedPointer fused(const Family& family, Plan plan, const Target& target);
  [[nodiscard]] PreparedPointer composed(const Family& family, Plan plan, const Target& target);
  // Obtains kernel `index` of the plan's stages and, for a target that is a device, loads it.
  void add_obtained(PreparedState& state,
                    const Family& family,
                    std::size_t index,
                    const Target& target);
  // Loads the kernels of Plan::otherwise, for a target that is a device, or says why not.
  void add_otherwise(PreparedState& state, const Target& target);
  // Loads a kernel of an embedded image, for a target that is a device.
  void add_embedded(PreparedState& state,
                    const StagePlan& stage,
                    const ComposedImage& image,
                    const Target& target);
  [[nodiscard]] Plan compose(const Family& family,
                             const Signature& signature,
                             const Target& target,
                             const Fallback& fallback) const;
  [[nodiscard]] KernelRequest request_of(const Family& family,
                                         const Plan& plan,
                                         std::size_t stage,
                                         const Target& target);
  // A plan that the environment stopped: composed, or under strict an Error.
  [[nodiscard]] PreparedPointer fall_back(const Family& family,
                                          const Signature& signature,
                                          const Target& target,
                                          const Fallback& fallback);

  // The policy a signature is planned with: the caller's candidate, or the tuned one.
  [[nodiscard]] Policy policy_for(const Signature& signature, const Target& target) const;

  const Options options_;
  const Backends backends_;
  Logger log_;
  const Tuning tuning_;
  Counts counts_;
  Toolchains toolchains_;
  const Headers headers_;
  Cubins cubins_;
  Devices devices_;
  SingleFlight<Name, PreparedPointer, NameHash, NameEqual> prepared_;
  SingleFlight<Digest, std::shared_ptr<Kernel>, DigestHash, std::equal_to<>> kernels_;
  SingleFlight<const void*, std::shared_ptr<LoadedImage>, std::hash<const void*>, std::equal_to<>>
      images_;
};

}  // namespace kiln
