// Doctor's checks of the environment, the driver and the devices.
// SPDX-License-Identifier: Apache-2.0
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <cuda.h>

#include <kiln/error.hpp>

#include "src/service/composed_images.hpp"
#include "tools/doctor/checks.hpp"
#include "tools/environment.hpp"

namespace kiln::cli {
namespace {

std::optional<std::string> passwd_home() {
  const passwd* entry = getpwuid(geteuid());
  if (entry == nullptr || entry->pw_dir == nullptr) return std::nullopt;
  return std::string(entry->pw_dir);
}

Finding describe_device(const Driver& driver, int ordinal, Examined& examined) {
  Finding finding;
  finding.subject = fmt::format("device {}", ordinal);
  int device = 0;
  char name[256] = {};
  int major = 0;
  int minor = 0;
  int sms = 0;
  driver.check(driver.device_get(&device, ordinal), "getting the device");
  driver.check(driver.device_name(name, sizeof name, device), "asking for the device's name");
  driver.check(
      driver.device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
      "asking for the device's capability");
  driver.check(
      driver.device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
      "asking for the device's capability");
  driver.check(driver.device_attribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
               "asking for the device's SMs");
  finding.detail = fmt::format("{}, compute capability {}.{}, {} SMs", name, major, minor, sms);
  const std::optional<Arch> arch = arch_of_capability(major, minor);
  if (!arch) {
    finding.health = Health::warning;
    finding.advice = "kiln plans no fused kernels for this capability; a newer kiln may";
    return finding;
  }
  finding.detail += fmt::format("; kernels are looked up under {}", arch->text());
  examined.archs.push_back(*arch);
  return finding;
}

}  // namespace

std::string_view to_string(Health health) noexcept {
  switch (health) {
    case Health::good:
      return "good";
    case Health::absent:
      return "absent";
    case Health::warning:
      return "warning";
    case Health::broken:
      return "broken";
  }
  return "broken";
}

Finding check_environment(Examined& examined) {
  Finding finding{"environment", Health::good, "no variable is set", {}, {}};
  // Policy asks for every variable that matters, so listening to it can miss none.
  const Policy::Getenv listen = [&](std::string_view name) {
    std::optional<std::string> value = environment(name);
    const std::string line = fmt::format("{}={}", name, value.value_or(""));
    if (value && std::find(finding.more.begin(), finding.more.end(), line) == finding.more.end()) {
      finding.more.push_back(line);
    }
    return value;
  };
  try {
    examined.policy = Policy::from(listen, passwd_home());
  } catch (const Error& error) {
    finding.health = Health::broken;
    finding.detail = error.detail;
    finding.advice = "correct or unset the variable";
    return finding;
  }
  if (!finding.more.empty())
    finding.detail = fmt::format("{} variables that matter are set", finding.more.size());
  if (!examined.policy->nvrtc_overrides.empty()) {
    finding.health = Health::warning;
    finding.detail = fmt::format("NVRTC reads {}, so compiles are not cached",
                                 fmt::join(examined.policy->nvrtc_overrides, ", "));
    finding.advice = "unset it";
  }
  return finding;
}

Finding check_driver(Examined& examined) {
  Finding finding{"driver", Health::good, {}, {}, {}};
  try {
    Driver driver = Driver::load();
    int version = 0;
    driver.check(driver.driver_version(&version), "asking for the driver's version");
    finding.detail = fmt::format("libcuda.so.1, CUDA {}.{}", version / 1000, version % 1000 / 10);
    examined.cuda_major = version / 1000;
    examined.driver = std::move(driver);
    if (version < 13000) {
      finding.health = Health::warning;
      finding.advice =
          "composed kernels are built for CUDA 13.0: a driver of 580 or newer loads them on any "
          "GPU";
    }
  } catch (const Error& error) {
    const bool missing = error.code == ErrorCode::driver_missing;
    finding.health = missing ? Health::absent : Health::broken;
    finding.detail = missing ? "none" : error.detail;
    if (missing) finding.more.push_back(error.detail);
    finding.advice = missing ? "nothing, unless this machine has a GPU: kernels are compiled and "
                               "cached without a driver"
                             : "run nvidia-smi; it may say more";
    // cuInit says so where there is a driver and no GPU: nothing is broken.
    if (error.detail.find("CUDA_ERROR_NO_DEVICE") != std::string::npos) {
      finding.health = Health::absent;
      finding.advice =
          "no GPU is visible here: check CUDA_VISIBLE_DEVICES, or the container's device options";
    }
  }
  return finding;
}

std::vector<Finding> check_devices(Examined& examined) {
  const Finding none{"device",
                     Health::absent,
                     "no GPU: kernels are compiled and cached, not run",
                     "name an architecture: kiln warm --arch sm_90a",
                     {}};
  if (!examined.driver) return {none};
  std::vector<Finding> findings;
  int count = 0;
  try {
    examined.driver->check(examined.driver->device_count(&count), "counting devices");
    for (int i = 0; i < count; ++i)
      findings.push_back(describe_device(*examined.driver, i, examined));
  } catch (const Error& error) {
    findings.push_back(
        {"device", Health::broken, error.detail, "run nvidia-smi; it may say more", {}});
  }
  if (findings.empty()) findings.push_back(none);
  return findings;
}

Finding check_composed(const Examined& examined) {
  Finding finding{"composed kernels", Health::good, {}, {}, {}};
  const auto images = composed_images();
  if (images.empty()) {
    finding.health = Health::broken;
    finding.detail = "none are embedded in this program";
    finding.advice = "build kiln anew with a CUDA toolkit of 12.9 or later";
    return finding;
  }
  finding.detail =
      fmt::format("{} images are embedded: they need no NVRTC and no cache", images.size());
  for (const Arch& arch : examined.archs) {
    if (find_composed(images.front().family, arch) != nullptr) continue;
    finding.health = Health::broken;
    finding.detail = fmt::format("none serves {}", arch.text());
    finding.advice = "build kiln anew";
  }
  return finding;
}

}  // namespace kiln::cli
